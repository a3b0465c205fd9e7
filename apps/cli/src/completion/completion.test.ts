import { expect, test } from 'vitest';
import { commandLine } from '../../test/command-line.ts';

test.each([
  [[''], ['pets', 'keys', 'completion', 'help']],
  [['p'], ['pets']],
  [
    ['pets', ''],
    ['list', 'create', 'get', 'import', 'export', 'help'],
  ],
  [['pets', 'c'], ['create']],
  [
    ['pets', 'list', '--'],
    ['--status', '--limit', '--after', '--all', '--json', '--help'],
  ],
  [['pets', 'list', '--all', '--a'], ['--after']],
  [
    ['pets', 'list', '--status', ''],
    ['available', 'pending', 'sold'],
  ],
  [['pets', 'list', '--status', '=', 's'], ['sold']],
  [
    ['pets', 'list', '--status', '='],
    ['available', 'pending', 'sold'],
  ],
  [['pets', 'list', '--status', 'sold', '--json', '--li'], ['--limit']],
  [['pets', 'create', '--name', 'pets', '--cat'], ['--category-id']],
  [['pets', 'create', '--name', ''], []],
  [['pets', 'import', ''], []],
  [
    ['pets', 'import', '--on-error', ''],
    ['stop', 'skip'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['nonsense', 'pe'], ['pets']],
  [['help', 'pets', 'i'], ['import']],
  [['pets', 'create', '--name', 'help', '--cat'], ['--category-id']],
])('completes %j', async (words, values) => {
  const lines = await commandLine().run('complete', '--', ...words);
  expect(lines.map((line) => line.split('\t')[0])).toEqual(values);
});

test('describes commands and options', async () => {
  expect(await commandLine().run('complete', '--', 'pets', 'ge')).toEqual(['get\tPrints a pet.']);
});

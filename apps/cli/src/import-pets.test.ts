import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { DomainError } from '@animal-store/domain';
import type { PetRepository } from '@animal-store/domain/ports';
import { freshFile } from '@animal-store/test-kit/fresh-folder';
import { expect, test } from 'vitest';
import { commandLine } from '../test/command-line.ts';

const line = (name: string) => `${JSON.stringify({ name, categoryId: 1 })}\n`;

/** Imports into one catalogue, under one import id, and lists the names of its pets. */
function importing(options?: { isTTY: boolean }) {
  const { runWith, run } = commandLine(options);
  return {
    imports: (input: string | Buffer, ...words: string[]) =>
      runWith(input, 'pets', 'import', '--import-id', 'arrivals', ...words),
    names: async () => (await run('pets', 'list', '--all')).map((text) => (JSON.parse(text) as { name: string }).name),
  };
}

const counts = (imported: number, alreadyImported: number, rejected: number) =>
  `{"imported":${imported},"alreadyImported":${alreadyImported},"rejected":${rejected}}\n`;

const REJECTED = 'animal-store: the lines above were not imported: correct them and repeat the command\n';

test('imports each line once, although it is repeated, and lines were appended or changed', async () => {
  const { imports, names } = importing();
  expect(await imports(line('Rex') + line('Rex'))).toEqual({ out: counts(2, 0, 0), err: '', code: 0 });
  // The last line has no line feed.
  expect((await imports(`${line('Rex')}${line('Rex')}\r\n${line('Max').trim()}`, '-')).out).toBe(counts(1, 2, 0));
  const { out, err } = await imports(line('Bella') + line('Rex'));
  expect(out).toBe(counts(0, 1, 1));
  expect(err).toBe(`stdin:1: another pet was imported from this line under the same --import-id\n${REJECTED}`);
  expect(await names()).toEqual(['Rex', 'Rex', 'Max']);
});

test('imports what pets list --all writes, from a file', async () => {
  const [first, second] = [commandLine(), commandLine()];
  // Control characters, and line separators that are none in JSON lines.
  const names = ['Rex', '\u2028\u2029\u0085', 'a\r\nb\u0001', '"\\', '🐕'.repeat(200), 'e\u0301'];
  for (const name of names) await first.catalogue.createPet({ name, categoryId: -(2n ** 63n), status: 'sold' });
  for (let count = 0; count < 3_000; count += 1) await first.catalogue.createPet({ name: 'Max', categoryId: 1n });
  const { out } = await first.runWith('', 'pets', 'list', '--all');
  const file = freshFile('pets.ndjson', `\ufeff${out}`);
  const imported = await second.runWith('', 'pets', 'import', '--import-id', 'x', file);
  expect(imported).toEqual({ out: counts(3_006, 0, 0), err: '', code: 0 });
  expect((await second.runWith('', 'pets', 'list', '--all')).out).toBe(out);
});

test('reports wrong lines with their numbers, and imports the others', async () => {
  const { imports, names } = importing();
  const wrong = ['nonsense\u001b', '', '{"name":" "}', 'null', '\xff', 'x'.repeat(200_000)];
  const input = `${line('Rex')}${wrong.join('\n')}\n${line('Max')}`;
  const { code, out, err } = await imports(Buffer.from(input, 'latin1'));
  expect(out).toBe(counts(2, 0, 5));
  expect(err.split('\n').sort()).toEqual([
    '',
    REJECTED.trim(),
    `stdin:2: Unexpected token 'o', "nonsense\\u001b" is not valid JSON`,
    'stdin:4: name must have a character that is not white space; categoryId is required',
    'stdin:5: the pet must be an object with name and categoryId, was null',
    'stdin:6: not UTF-8',
    'stdin:7: longer than 65536 bytes',
  ]);
  expect(code).toBe(1);
  expect(await names()).toEqual(['Rex', 'Max']);
  const corrected = `${line('Rex')}${line('Luna')}`;
  expect(await imports(corrected)).toEqual({ out: counts(1, 1, 0), err: '', code: 0 });
});

test('draws a bar on a terminal while a file is read, and erases it for messages and at the end', async () => {
  const file = freshFile('pets.ndjson', `x\n${line('Rex').repeat(999)}`);
  const { runWith } = commandLine({ isTTY: true });
  const { out, err } = await runWith('', 'pets', 'import', file, '--import-id', 'a');
  const [erase, message] = ['\r\u001b[K', `${file}:1: Unexpected token 'x', "x" is not valid JSON\n`];
  expect(err).toBe(`${erase}[####################] 0.0 MB of 0.0 MB, 0.0 MB/s${erase}${message}${erase}${REJECTED}`);
  expect(out).toMatch(/imported .*999/);
});

test.each([5, 5_000])(
  'ends with its counts if the storage fails at one of %i lines, although the input does not end',
  async (lines) => {
    const memory = createMemoryStorage();
    let adds = 0;
    const add: PetRepository['add'] = async (...given) => {
      adds += 1;
      const isDown = adds === 2;
      await setImmediate();
      if (isDown) throw new DomainError('storage_unavailable', 'down');
      return memory.pets.add(...given);
    };
    const { runWith } = commandLine({ storage: { ...memory, pets: { ...memory.pets, add } } });
    const input = new Readable({ read() {} });
    input.push(line('Rex').repeat(lines));
    // At most 1,000 lines are in flight.
    expect(await runWith(input, 'pets', 'import', '--import-id', 'x')).toEqual({
      code: 1,
      out: counts(Math.min(lines, 1_000) - 1, 0, 0),
      err: 'animal-store: the storage at this process is unavailable: down\n',
    });
  },
);

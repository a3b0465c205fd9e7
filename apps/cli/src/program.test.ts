import { createHash } from 'node:crypto';
import { DomainError, type NewPet } from '@animal-store/domain';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { commandLine, UsageError } from '../test/command-line.ts';
import { createProgram } from './program.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

describe('pets', () => {
  test('adds, reads and lists pets, to the last digit', async () => {
    const { run } = commandLine();
    const rex = '{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}';
    const max = '{"id":2,"name":"Max","categoryId":-1}';
    expect(
      await run('pets', 'create', '--name', 'Rex', '--category-id', '9223372036854775807', '--status', 'sold'),
    ).toEqual([rex]);
    expect(await run('pets', 'create', '--name', 'Max', '--category-id', '-1')).toEqual([max]);
    expect(await run('pets', 'get', '1')).toEqual([rex]);
    expect(await run('pets', 'list')).toEqual([rex, max]);
    expect(await run('pets', 'list', '--status', 'sold')).toEqual([rex]);
    expect(await run('pets', 'list', '--after', '1')).toEqual([max]);
    expect(await run('pets', 'list', '--limit', '1')).toEqual([rex]);
    expect(await run('pets', 'list', '--limit', '1', '--all')).toEqual([rex, max]);
  });

  test('adds one pet under an idempotency key', async () => {
    const { run } = commandLine();
    const words = ['pets', 'create', '--name', 'Rex', '--category-id', '1', '--idempotency-key', 'k-1'];
    expect(await run(...words)).toEqual(await run(...words));
    expect(await run('pets', 'list')).toHaveLength(1);
  });

  test('adds a pet although a holder of an API key has used the same idempotency key', async () => {
    const { run, catalogue } = commandLine();
    await run('pets', 'create', '--name', 'Rex', '--category-id', '1', '--idempotency-key', 'k-1');
    const rex: NewPet = { name: 'Rex', categoryId: 1n };
    await catalogue.createPet(rex, { holder: 'command line', key: 'k-1' });
    expect(await run('pets', 'list')).toHaveLength(2);
  });

  test.each([
    ['pets get 7', 'no pet has the id 7'],
    ['pets get x', 'id must be an integer, was "x"'],
    ['pets get 99999999999999999999', 'no pet has the id 99999999999999999999'],
    ['pets create --name= --category-id 1', 'name must have a character that is not white space'],
    ['pets create --name Rex', 'categoryId is required'],
    [
      'pets create --category-id 1.0 --status lost',
      'name is required; categoryId must be an integer from -9223372036854775808 to 9223372036854775807, was "1.0"; ' +
        'status must be one of available, pending, sold, was "lost"',
    ],
    ['pets create --name Rex --category-id 1e3', /^categoryId must be an integer from .*, was "1e3"$/],
    ['pets create --name Rex --category-id 1.5', /^categoryId must be an integer from .*, was "1\.5"$/],
    ['pets create --name Rex --category-id=', /^categoryId must be an integer from .*, was ""$/],
    ['pets create --name Rex --category-id 9223372036854775808', /^categoryId must be .*, was 9223372036854775808$/],
    ['pets list --limit 0', 'limit must be an integer from 1 to 100, was 0'],
    ['pets list --limit abc', 'limit must be an integer from 1 to 100, was "abc"'],
    ['pets list --limit 1e1', 'limit must be an integer from 1 to 100, was "1e1"'],
    [
      'pets list --limit abc --status lost --after x',
      'limit must be an integer from 1 to 100, was "abc"; status must be one of available, pending, sold, was "lost"; ' +
        'after must be an id or 0, was "x"',
    ],
    ['pets list --after=-1', 'after must be an id or 0, was -1'],
    ['pets list --after 9223372036854775808', /^after must be an id or 0, was 9223372036854775808$/],
    ['keys issue', /^holder must be 1 to 100 printable ASCII characters.*, was missing$/],
    ['keys issue --holder zoo --expires-in 0', 'expires-in must be a number of days from 1 to 36500, was 0'],
    ['keys issue --holder zoo --expires-in abc', 'expires-in must be a number of days from 1 to 36500, was "abc"'],
    ['keys issue --holder zoo --expires-in 36501', /^expires-in must be .*, was 36501$/],
    ['keys issue --holder= --expires-in 1e3', /^holder must be .*, was ""; expires-in must be .*, was "1e3"$/],
    ['keys revoke x', 'no API key has the id "x"'],
    [`keys revoke ${'x'.repeat(41)}`, `no API key has the id "${'x'.repeat(40)}"…`],
  ])('rejects arguments with every violation and the values that were given: %s', async (words, message) => {
    const rejection = commandLine().run(...words.split(' '));
    await expect(rejection).rejects.toThrow(DomainError);
    await expect(rejection).rejects.toMatchObject({
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });
});

describe('keys', () => {
  test('shows a key once, lists keys without their secrets, and revokes them', async () => {
    const { run, authenticate } = commandLine();
    const [line] = await run('keys', 'issue', '--holder', 'the zoo', '--expires-in', '30');
    const { key, id, ...record } = JSON.parse(line as string) as { key: string; id: string };
    expect(record).toMatchObject({ holder: 'the zoo', expiresAt: '2027-01-23T00:00:00.000Z', revokedAt: null });
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    const listed = await run('keys', 'list');
    expect(listed.map((one) => JSON.parse(one) as unknown)).toEqual([
      {
        id,
        visiblePrefix: key.slice(0, 9),
        holder: 'the zoo',
        createdAt: '2026-12-24T00:00:00.000Z',
        expiresAt: '2027-01-23T00:00:00.000Z',
        revokedAt: null,
        lastUsedAt: '2026-12-24T00:00:00.000Z',
      },
    ]);
    expect(listed[0]).not.toContain(key);
    expect(listed[0]).not.toContain(digest(key));
    expect(await run('keys', 'revoke', id)).toEqual([
      expect.stringContaining('"revokedAt":"2026-12-24T00:00:00.000Z"'),
    ]);
    expect(await authenticate(key)).toBeNull();
  });

  test('writes a line to standard error when a key is issued and revoked', async () => {
    const { runWith } = commandLine();
    const issued = await runWith('', 'keys', 'issue', '--holder', 'the zoo');
    const { id, ...record } = JSON.parse(issued.out) as { id: string };
    expect(record).toMatchObject({ expiresAt: null, revokedAt: null, lastUsedAt: null });
    expect(issued.err).toBe(`animal-store: 2026-12-24T00:00:00.000Z issued API key ${id} of "the zoo"\n`);
    const revoked = await runWith('', 'keys', 'revoke', id);
    expect(revoked.err).toBe(`animal-store: 2026-12-24T00:00:00.000Z revoked API key ${id} of "the zoo"\n`);
  });
});

describe('output on a terminal', () => {
  test('lists pets as a table whose wide column is the last', async () => {
    const { run } = commandLine({ isTTY: true });
    await run('pets', 'create', '--name', 'Rex', '--category-id', '9223372036854775807', '--status', 'sold');
    await run('pets', 'create', '--name', '狗 \u001b[31m\nMax\u202e', '--category-id=-1');
    expect(await run('pets', 'list')).toEqual([
      'id  categoryId           status  name',
      '1   9223372036854775807  sold    Rex',
      '2   -1                           狗 \\u001b[31m\\u000aMax\\u202e',
    ]);
  });

  test('prints one record as a line for each member', async () => {
    const { run } = commandLine({ isTTY: true });
    expect(await run('pets', 'create', '--name', 'Rex', '--category-id', '7')).toEqual([
      'id          1',
      'name        Rex',
      'categoryId  7',
    ]);
    expect(await run('keys', 'issue', '--holder', 'the zoo')).toContain('expiresAt');
  });

  test('prints a table that is wider than the terminal as one block for each record', async () => {
    const words = ['keys', 'issue', '--holder', 'the zoo'];
    const { run } = commandLine({ isTTY: true });
    const [first, second] = [await run(...words), await run(...words)].map((lines) => lines.slice(1));
    expect(await run('keys', 'list')).toEqual([...(first ?? []), '', ...(second ?? [])]);
    // Some terminals do not know their width.
    for (const columns of [132, 0]) {
      const wide = commandLine({ isTTY: true, columns });
      await wide.run(...words);
      expect(await wide.run('keys', 'list')).toHaveLength(2);
    }
  });

  test('prints JSON lines with --json', async () => {
    const { run } = commandLine({ isTTY: true });
    const rex = '{"id":1,"name":"Rex","categoryId":7}';
    expect(await run('pets', 'create', '--name', 'Rex', '--category-id', '7', '--json')).toEqual([rex]);
    expect(await run('pets', 'get', '1', '--json')).toEqual([rex]);
    expect(await run('pets', 'list', '--json')).toEqual([rex]);
  });
});

describe('createProgram', () => {
  test.each([
    [['pets', 'sell'], "unknown command 'sell'"],
    [['constructor'], "unknown command 'constructor'"],
    [['pets', 'get'], "missing required argument 'id'"],
    [['pets', 'get', '1', '2'], /^too many arguments for 'get'/],
    [['pets', 'list', 'x'], /^too many arguments for 'list'/],
    [['pets', 'list', '--colour', 'red'], "unknown option '--colour'"],
    [['pets', 'list', '--statu', 'sold'], "unknown option '--statu'\n(Did you mean --status?)"],
    [['pets', 'list', '--limit'], "option '--limit <integer>' argument missing"],
    [['keys', 'list', '--all'], "unknown option '--all'"],
    [['\u001b[31m'], "unknown command '\\u001b[31m'"],
    [['a\rb\u2028c'], "unknown command 'a\\u000db\\u2028c'"],
  ])('rejects a wrong command line with its error and a hint: %j', async (words, message) => {
    const rejection = await commandLine()
      .run(...words)
      .catch((error) => error);
    expect(rejection).toBeInstanceOf(UsageError);
    const [, said, hint] = /^animal-store: (.*)\n(.*)\n$/s.exec(rejection.message) ?? [];
    if (typeof message === 'string') expect(said?.replace(/\n\(Did you mean help\?\)/, '')).toBe(message);
    else expect(said).toMatch(message);
    expect(hint).toBe('Add --help for usage and an example.');
  });

  test.each([[['pets']], [['keys']]])('shows the commands if one is missing: %j', async (words) => {
    await expect(commandLine().run(...words)).rejects.toThrow(/^Usage: animal-store .*\nCommands:\n.* {2}list \[/s);
  });
});

describe('help', () => {
  test.each([[[]], [['pets']], [['pets', 'import']]])('prints the same as --help: %j', async (words) => {
    const { run } = commandLine();
    expect(await run('help', ...words)).toEqual(await run(...words, '--help'));
  });

  const leaves = commandsOf(createProgram({} as never)).filter((words) => words.length === 2);

  test('knows every command', () => {
    expect(leaves.map((words) => words.join(' '))).toEqual([
      'pets list',
      'pets create',
      'pets get',
      'pets import',
      'pets export',
      'keys issue',
      'keys list',
      'keys revoke',
    ]);
  });

  test.each(leaves)('shows an example that the command understands: %s %s', async (...words) => {
    const { run, catalogue } = commandLine();
    const help = await run(...words, '--help');
    const [example = ''] = help.filter((line) => line.startsWith('  $ animal-store ')).map((line) => line.slice(17));
    expect(example.startsWith(words.join(' '))).toBe(true);
    await catalogue.createPet({ name: 'Rex', categoryId: 1n });
    const given = [...example.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    await run(...given.slice(0, given.indexOf('>') >>> 0)).catch((error) => {
      expect(error.message).toMatch(/^no API key has the id|no such file/);
    });
  });
});

/** The names of all commands. */
function commandsOf(command: Command, words: readonly string[] = []): string[][] {
  return command.commands.flatMap((each) => [[...words, each.name()], ...commandsOf(each, [...words, each.name()])]);
}

import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import type { ApiKey, NewPet } from '@animal-store/domain';
import { describe, expect, test } from 'vitest';
import { commandLine } from '../test/command-line.ts';
import { printAll } from './print.ts';

test('docs/command-line.md has every command', async () => {
  const manual = readFileSync(new URL('../../../docs/command-line.md', import.meta.url), 'utf8');
  const { runWith } = commandLine();
  async function commandsOf(...words: string[]): Promise<string[]> {
    const { out } = await runWith('', ...words, '--help');
    const names = [...(out.split('Commands:\n')[1] ?? '').matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name as string);
    if (names.length === 0) return [words.join(' ')];
    return (await Promise.all(names.map((name) => commandsOf(...words, name)))).flat();
  }
  const commands = await commandsOf();
  expect(commands).toContain('pets import');
  expect(commands.filter((command) => !new RegExp(`\`${command}[ \`]`).test(manual))).toEqual([]);
});

test('keys list ends if the adapter of an old version repeats its only page, and fails if it repeats a full one', async () => {
  const storage = createMemoryStorage();
  const none = { expiresAt: null, revokedAt: null, lastUsedAt: null, createdAt: 0 };
  const records = Array.from({ length: 100 }, (_, index): ApiKey => {
    const id = index.toString(16).padStart(16, '0');
    return { id, digest: id.padEnd(64, '0'), visiblePrefix: 'anst_0000', holder: 'the zoo', ...none };
  });
  const withKeys = (count: number) => {
    const list = async () => records.slice(0, count);
    return commandLine({ storage: { ...storage, keys: { ...storage.keys, list } } });
  };
  expect(await withKeys(2).run('keys', 'list')).toHaveLength(2);
  await expect(withKeys(100).run('keys', 'list')).rejects.toThrow(/^the API keys behind 0+63 end with 0+63$/);
});

/** Numbers that look like those of the system. */
test.each<[string, object, string]>([
  [
    'the system',
    { errno: -2, code: 'ENOENT', syscall: 'open' },
    "a file can't be used (open): no such file or directory",
  ],
  ['Node.js', { errno: 21, code: 'ERR_FS_EISDIR', syscall: 'rm' }, "a file can't be used (rm): it failed"],
  ['zlib', { errno: -3, code: 'Z_DATA_ERROR' }, 'it failed'],
  ['a client of MySQL', { errno: 1_045, code: 'ER_ACCESS_DENIED_ERROR' }, 'it failed'],
  [
    'a client with a text',
    { errno: 'EHOSTDOWN', code: 'EHOSTDOWN', syscall: 'connect' },
    "a file can't be used (connect): it failed",
  ],
])('the reason of an error of %s is one line', async (_, members, line) => {
  const storage = createMemoryStorage();
  const list = () => Promise.reject(Object.assign(new Error('it failed\nat some place'), members));
  const { runWith } = commandLine({ storage: { ...storage, pets: { ...storage.pets, list } } });
  expect(await runWith('', 'pets', 'list')).toEqual({ code: 1, out: '', err: `animal-store: ${line}\n` });
});

describe('pets', () => {
  test('adds, reads and lists pets, to the last digit', async () => {
    const { run } = commandLine();
    const rex = '{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}';
    const max = '{"id":2,"name":"Max","categoryId":-1}';
    const printed: [string, string[]][] = [
      ['create --name Rex --category-id 9223372036854775807 --status sold', [rex]],
      ['create --name Max --category-id -1', [max]],
      ['get 1', [rex]],
      ['list', [rex, max]],
      ['list --status sold', [rex]],
      ['list --after 1', [max]],
      ['list --limit 1', [rex]],
    ];
    for (const [words, lines] of printed) expect(await run('pets', ...words.split(' '))).toEqual(lines);
  });

  test('lists 20 pets, and with --all every pet, on a terminal in tables of 100', async () => {
    const storage = createMemoryStorage();
    const [{ run, catalogue }, terminal] = [commandLine({ storage }), commandLine({ storage, isTTY: true })];
    for (let count = 0; count < 101; count += 1) await catalogue.createPet({ name: 'Rex', categoryId: 1n });
    expect(await run('pets', 'list')).toHaveLength(20);
    expect(await run('pets', 'list', '--all')).toHaveLength(101);
    const table = await terminal.run('pets', 'list', '--all');
    const row = expect.stringMatching(/^\d+ +Rex /);
    const names = 'id   name  categoryId';
    expect(table).toEqual([names, ...Array(100).fill(row), names, row]);
  });

  test('reads a pet when the output has room for it', async () => {
    const output = new PassThrough({ highWaterMark: 1 });
    const records = Array.from({ length: 100 }, (_, id) => ({ id })).values();
    const printing = printAll(output, records);
    await setImmediate();
    expect(records.next().value?.id).toBeLessThan(5);
    output.resume();
    await printing;
    expect(records.next().done).toBe(true);
  });

  test('adds one pet under an idempotency key, which it shares with no holder of an API key', async () => {
    const { run, catalogue } = commandLine();
    const words = ['pets', 'create', '--name', 'Rex', '--category-id', '1', '--idempotency-key', 'k-1'];
    expect(await run(...words)).toEqual(await run(...words));
    const rex: NewPet = { name: 'Rex', categoryId: 1n };
    await catalogue.createPet(rex, { holder: 'command line', key: 'k-1' });
    expect(await run('pets', 'list')).toHaveLength(2);
  });

  test('prints tables on a terminal, without quotes, in which names cannot control it', async () => {
    const { run } = commandLine({ isTTY: true });
    const words = ['pets', 'create', '--category-id', '9223372036854775807', '--name'];
    expect(await run('pets', 'list')).toEqual([]);
    expect(await run(...words, 'Rex')).toEqual(['id          1', 'name        Rex', 'categoryId  9223372036854775807']);
    await run(...words, '\u001b[31m\nMax', '--status', 'sold');
    expect(await run('pets', 'list')).toEqual([
      'id  name                 categoryId           status',
      '1   Rex                  9223372036854775807',
      '2   \\u001b[31m\\u000aMax  9223372036854775807  sold',
    ]);
  });

  test('keeps the columns of a table aligned beside wide and combining characters', async () => {
    const { run } = commandLine({ isTTY: true });
    // Two columns on a terminal: each ideograph, and the dog. One: e with its accent.
    for (const name of ['犬太郎', '🐕', 'Re\u0301x']) await run('pets', 'create', '--category-id', '7', '--name', name);
    expect(await run('pets', 'list')).toEqual([
      'id  name    categoryId',
      '1   犬太郎  7',
      '2   🐕      7',
      '3   Re\u0301x     7',
    ]);
  });
});

describe('keys', () => {
  const NOW = '2026-12-24T00:00:00.000Z';

  test('shows a key once, lists keys without their secrets, and revokes them', async () => {
    const { runWith, run } = commandLine();
    const issued = await runWith('', 'keys', 'issue', '--holder', 'the zoo', '--expires-in', '30');
    const { key, ...record } = JSON.parse(issued.out) as { key: string; id: string };
    expect(record).toEqual({
      id: expect.stringMatching(/^[\da-f]{16}$/),
      visiblePrefix: key.slice(0, 9),
      holder: 'the zoo',
      ...{ createdAt: NOW, expiresAt: '2027-01-23T00:00:00.000Z', revokedAt: null, lastUsedAt: null },
    });
    expect(issued.err).toBe(`animal-store: ${NOW} issued API key ${record.id} of "the zoo"\n`);
    expect(await run('keys', 'list')).toEqual([JSON.stringify(record)]);
    const revoked = await runWith('', 'keys', 'revoke', record.id);
    expect(JSON.parse(revoked.out)).toEqual({ ...record, revokedAt: NOW });
    expect(revoked.err).toBe(`animal-store: ${NOW} revoked API key ${record.id} of "the zoo"\n`);
  });

  test('lists the oldest of 250 keys first', async () => {
    const { run, time } = commandLine();
    const issued: string[] = [];
    for (let count = 0; count < 250; count += 1) {
      time.now += 1;
      const [line = ''] = await run('keys', 'issue', '--holder', 'the zoo');
      issued.push(JSON.parse(line).id);
    }
    expect((await run('keys', 'list')).map((line) => JSON.parse(line).id)).toEqual(issued);
  });

  test('issues a key that does not expire', async () => {
    const [line = ''] = await commandLine().run('keys', 'issue', '--holder', 'the zoo');
    expect(JSON.parse(line)).toMatchObject({ createdAt: NOW, expiresAt: null });
  });
});

describe('a wrong command line', () => {
  test.each([
    ['pets sell', 'unknown command'],
    ['pets lst', 'unknown command\n(Did you mean list?)'],
    ['pets list --stats sold', 'unknown option\n(Did you mean --status?)'],
    ['pets get 1 2', "too many arguments for 'get'. Expected 1 argument but got 2."],
    ['pets get', "missing required argument 'id'"],
    ['pets get 01', "value is invalid for argument 'id'. It must be an integer without a leading zero."],
    ['pets list --limit 1e1', 'argument is invalid. It must be an integer without a leading zero.'],
    ['pets list --limit 1 --all', "option '--all' cannot be used with option '--limit <integer>'"],
    ['pets list --after=', 'argument is invalid. It must be an integer without a leading zero.'],
    ['pets list --status lost', 'argument is invalid. Allowed choices are available, pending, sold.'],
    ['pets create --name Rex', "required option '--category-id <integer>' not specified"],
    ['pets create --name Rex --category-id 1.5', 'argument is invalid. It must be an integer without a leading'],
    ['pets import', "required option '--import-id <name>' not specified"],
    ['pets import --import-id é', 'argument is invalid. It must be 1 to 100 visible ASCII characters.'],
    ['keys issue', "required option '--holder <name>' not specified"],
    ['keys issue --holder zoo --expires-in 0', 'It must be a number of days from 1 to 36500.'],
    ['keys issue --holder zoo --expires-in 36501', 'It must be a number of days from 1 to 36500.'],
  ])('is rejected with its error and a hint: %s', async (words, message) => {
    const { code, out, err } = await commandLine().runWith('', ...words.split(' '));
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^animal-store: .*\nAdd --help for usage\.\n$/s);
    expect(err).toContain(message);
  });

  const [key, url] = [`anst_${'k'.repeat(36)}`, 'postgres://me:kkk@h/d'];

  test.each([
    ...[`keys revoke x ${key}`, `keys ${key}`, key, `--${key}`, `pets get ${key}`, `pets list ${key}`],
    ...[`pets list --status ${key}`, `pets list --limit=${key}`, `keys issue --holder x --expires-in ${key}`],
    ...[`copy ${url}`, `copy --to-strge=${url}`, `pets get '${key}'`, `pets list --status "'${key}'"`],
    ...[
      `keys issue --holder \n${key}`,
      `keys issue --holder configured-${key}"`,
      `pets create --name x --status ${key}`,
    ],
  ])('is rejected without its arguments, one of which may be a secret in the wrong place: %s', async (words) => {
    const { code, err } = await commandLine().runWith('', ...words.split(' '));
    expect([code, err]).toEqual([2, expect.stringMatching(/^animal-store: (?!.*kkk)/s)]);
  });
});

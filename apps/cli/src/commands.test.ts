import { createHash, randomBytes } from 'node:crypto';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createCatalogue, createKeyring, DomainError, LIMITS, type NewPet, PET_STATUSES } from '@animal-store/domain';
import { createAuthentication } from '@animal-store/domain/transport';
import { stringify } from '@animal-store/exact-json';
import { describe, expect, test } from 'vitest';
import { runCommand, USAGE, UsageError } from './commands.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const clock = () => Date.UTC(2026, 11, 24);

function commandLine() {
  const { pets, keys } = createMemoryStorage();
  const dependencies = {
    catalogue: createCatalogue(pets),
    keyring: createKeyring({ keys, digest, randomBytes, clock }),
    clock,
  };
  return {
    catalogue: dependencies.catalogue,
    authenticate: createAuthentication({ configuredKeys: new Map(), issuedKeys: keys, digest, clock }),
    /** The lines that a command prints. */
    async run(...words: string[]): Promise<string[]> {
      const lines: string[] = [];
      await runCommand(words, { ...dependencies, print: (value) => lines.push(stringify(value)) });
      return lines;
    },
  };
}

describe('animals', () => {
  test('are added, read and listed, to the last digit', async () => {
    const { run } = commandLine();
    const rex = '{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}';
    const max = '{"id":2,"name":"Max","categoryId":-1}';
    expect(await run('pets', 'add', '--name', 'Rex', '--category', '9223372036854775807', '--status', 'sold')).toEqual([
      rex,
    ]);
    expect(await run('pets', 'add', '--name=Max', '--category=-1')).toEqual([max]);
    expect(await run('pets', 'get', '1')).toEqual([rex]);
    expect(await run('pets', 'list')).toEqual([rex, max]);
    expect(await run('pets', 'list', '--status', 'sold')).toEqual([rex]);
    expect(await run('pets', 'list', '--after', '1')).toEqual([max]);
    expect(await run('pets', 'list', '--limit', '1')).toEqual([rex]);
    expect(await run('pets', 'list', '--limit', '1', '--all')).toEqual([rex, max]);
  });

  test('are added once under an idempotency key', async () => {
    const { run } = commandLine();
    const words = ['pets', 'add', '--name', 'Rex', '--category', '1', '--idempotency-key', 'k-1'];
    expect(await run(...words)).toEqual(await run(...words));
    expect(await run('pets', 'list')).toHaveLength(1);
  });

  test('are added beside those of any holder of an API key with the same idempotency key', async () => {
    const { run, catalogue } = commandLine();
    await run('pets', 'add', '--name', 'Rex', '--category', '1', '--idempotency-key', 'k-1');
    const rex: NewPet = { name: 'Rex', categoryId: 1n };
    await catalogue.createPet(rex, { holder: 'command line', key: 'k-1' });
    expect(await run('pets', 'list')).toHaveLength(2);
  });

  test.each([
    ['pets get 7', 'no pet has the id 7'],
    ['pets add --name= --category 1', 'name must have a character that is not white space'],
    ['pets add --name Rex', 'categoryId is required'],
    [
      'pets add --category 1.0 --status lost',
      'name is required; categoryId must be an integer from -9223372036854775808 to 9223372036854775807, was "1.0"; ' +
        'status must be one of available, pending, sold, was "lost"',
    ],
    ['pets add --name Rex --category 1e3', /^categoryId must be an integer from .*, was "1e3"$/],
    ['pets add --name Rex --category 1.5', /^categoryId must be an integer from .*, was "1\.5"$/],
    ['pets add --name Rex --category=', /^categoryId must be an integer from .*, was ""$/],
    ['pets add --name Rex --category 9223372036854775808', /^categoryId must be .*, was 9223372036854775808$/],
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
  ])('what the catalogue refuses is said with all that is wrong and what was given: %s', async (words, message) => {
    const refusal = commandLine().run(...words.split(' '));
    await expect(refusal).rejects.toThrow(DomainError);
    await expect(refusal).rejects.toMatchObject({
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });
});

describe('API keys', () => {
  test('are shown once, listed without their secrets, and revoked', async () => {
    const { run, authenticate } = commandLine();
    const [line] = await run('keys', 'issue', '--holder', 'the zoo', '--expires-in', '30');
    const { key, id, ...record } = JSON.parse(line as string) as { key: string; id: string };
    expect(record).toMatchObject({ holder: 'the zoo', expiresAt: '2027-01-23T00:00:00.000Z', revokedAt: null });
    expect(await authenticate(key)).toBe('the zoo');
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

  test('stay until they are revoked, unless it is said when they end', async () => {
    const [line] = await commandLine().run('keys', 'issue', '--holder', 'the zoo');
    expect(JSON.parse(line as string)).toMatchObject({ expiresAt: null, revokedAt: null, lastUsedAt: null });
  });
});

const GET = 'usage: animal-store pets get ID';
const LIST =
  `usage: animal-store pets list [--status ${PET_STATUSES.join('|')}] ` +
  `[--limit ${LIMITS.page.min}-${LIMITS.page.max}] [--all] [--after ID]`;
const ADD = 'usage: animal-store pets add --name NAME --category ID [--status STATUS] [--idempotency-key KEY]';

test.each([
  [[], 'there is no command', USAGE],
  [['pets'], 'there is no command "pets"', USAGE],
  [['pets', 'sell'], 'there is no command "pets sell"', USAGE],
  [['constructor', 'constructor'], 'there is no command "constructor constructor"', USAGE],
  [['pets', 'get'], 'the ID is missing', GET],
  [['pets', 'get', '1', '2'], '"2" is one word too many', GET],
  [['pets', 'get', 'x'], 'the id of an animal is an integer, was "x"', GET],
  [['pets', 'list', 'x'], '"x" is one word too many', LIST],
  [['pets', 'list', '--colour', 'red'], "Unknown option '--colour'", LIST],
  [['pets', 'list', '--limit'], "Option '--limit <value>' argument missing", LIST],
  [['pets', 'list', '--limit', '--all'], "Option '--limit' argument is ambiguous", LIST],
  [['keys', 'list', '--all'], "Unknown option '--all'", 'usage: animal-store keys list'],
  [
    ['pets', 'add', '--name', 'Rex', '--category', '-5'],
    'a value that begins with a dash is written with an equals sign: --category=-5',
    ADD,
  ],
])('what is no command is answered with the mistake and how it is used: %j', async (words, message, usage) => {
  const mistake = commandLine().run(...words);
  await expect(mistake).rejects.toThrow(UsageError);
  await expect(mistake).rejects.toMatchObject({ message, usage });
});

import { createHash, randomBytes } from 'node:crypto';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createAuthentication, createCatalogue, createKeyring, DomainError, parseNewPet } from '@animal-store/domain';
import { exactJson } from '@animal-store/exact-json';
import { describe, expect, test } from 'vitest';
import { runCommand, UsageError } from './commands.ts';

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
      await runCommand(words, { ...dependencies, print: (value) => lines.push(exactJson(value)) });
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
    const rex = parseNewPet({ name: 'Rex', categoryId: 1n });
    await catalogue.createPet(rex, { holder: 'command line', key: 'k-1' });
    expect(await run('pets', 'list')).toHaveLength(2);
  });

  test.each([
    ['pets', 'get', '7'],
    ['pets', 'add', '--name', '', '--category', '1'],
    ['pets', 'add', '--name', 'Rex'],
    ['pets', 'add', '--name', 'Rex', '--category', '9223372036854775808'],
    ['pets', 'list', '--limit', '0'],
    ['pets', 'list', '--limit', 'x'],
    ['pets', 'list', '--status', 'lost'],
    ['pets', 'list', '--after=-1'],
    ['pets', 'list', '--after', '9223372036854775808'],
    ['keys', 'issue'],
    ['keys', 'issue', '--holder', 'the zoo', '--expires-in', '0'],
    ['keys', 'issue', '--holder', 'the zoo', '--expires-in', 'x'],
    ['keys', 'issue', '--holder', 'the zoo', '--expires-in', '99999999'],
    ['keys', 'revoke', 'x'],
  ])('what the catalogue refuses is said: %s %s %s %s', async (...words) => {
    await expect(commandLine().run(...words)).rejects.toThrow(DomainError);
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

test.each([
  [],
  ['pets'],
  ['pets', 'sell'],
  ['constructor', 'constructor'],
  ['pets', 'get'],
  ['pets', 'get', '1', '2'],
  ['pets', 'get', 'x'],
  ['pets', 'list', 'x'],
  ['pets', 'list', '--colour', 'red'],
  ['pets', 'list', '--after', 'x'],
  ['pets', 'add', '--name', 'Rex', '--category', '1.5'],
  ['pets', 'list', '--limit'],
  ['keys', 'list', '--all'],
])('what is no command is answered with the usage or the mistake: %s %s %s', async (...words) => {
  await expect(commandLine().run(...words)).rejects.toThrow(UsageError);
});

test('what is wrong with an option is said before the usage', async () => {
  await expect(commandLine().run('pets', 'list', '--colour', 'red')).rejects.toThrow(
    /--colour[\s\S]*usage: animal-store/,
  );
});

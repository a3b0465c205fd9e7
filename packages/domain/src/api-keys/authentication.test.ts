import { hash, randomBytes } from 'node:crypto';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { describe, expect, test } from 'vitest';
import { observed, UNAVAILABLE } from '../../test/ports.ts';
import type { ApiKey } from './api-key.ts';
import type { ApiKeyRepository } from './api-key-repository.ts';
import { createAuthentication } from './authentication.ts';
import { createKeyring } from './keyring.ts';

const digest = (text: string) => hash('sha256', text);
const NOON = 1_800_000_000_000;
const SECONDS = 1_000;
const MINUTE = 60 * SECONDS;

/** A key that was issued on a storage in memory, and how it is authenticated there, with changed calls of the port. */
async function issued({
  expiresAt = null,
  ...changes
}: { expiresAt?: number | null } & Partial<ApiKeyRepository> = {}) {
  const storage = createMemoryStorage();
  const { keys } = storage;
  const time = { now: NOON };
  const keyring = createKeyring({ keys, digest, randomBytes, clock: () => time.now });
  const { key, record } = await keyring.issue({ holder: 'the zoo', expiresAt });
  const { keys: issuedKeys, calls } = observed({ ...storage, keys: { ...keys, ...changes } });
  const authenticate = createAuthentication({
    configuredKeys: new Map([[digest('a key of my own'), 'me']]),
    issuedKeys,
    digest,
    clock: () => time.now,
    monotonicClock: () => time.now,
  });
  /** When the key was last used, according to the storage. */
  const lastUse = async () => (await keys.find(record.digest))?.lastUsedAt;
  return { key, record, keys, keyring, calls, time, authenticate, lastUse };
}

describe('createAuthentication', () => {
  test('accepts a configured key, of any characters, without a query', async () => {
    const { calls, authenticate } = await issued();
    const id = digest('a key of my own').slice(0, 16);
    expect(await authenticate('a key of my own')).toEqual({ id, holder: 'me' });
    expect(calls).toEqual([]);
  });

  test('rejects a text of another form than that of a key without a query', async () => {
    const { key, calls, authenticate } = await issued();
    for (const wrong of ['', 'anst_', key.toUpperCase(), `${key} `, key.slice(1)]) {
      expect(await authenticate(wrong)).toBeNull();
    }
    expect(calls).toEqual([]);
  });

  test('accepts a key until it expires, although its record is cached', async () => {
    const { key, authenticate, time } = await issued({ expiresAt: NOON + MINUTE });
    time.now = NOON + MINUTE - 1;
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    time.now = NOON + MINUTE;
    expect(await authenticate(key)).toBeNull();
  });

  test('rejects a revoked key, and does not record its use', async () => {
    const { key, record, keyring, calls, authenticate } = await issued();
    await keyring.revoke(record.id);
    expect(await authenticate(key)).toBeNull();
    expect(calls).toEqual(['keys.find']);
  });

  test.each<[string, ApiKeyRepository['find'], string | null]>([
    ['was unknown', async () => null, null],
    ['could not be looked up', UNAVAILABLE.keys.find, 'storage_unavailable'],
  ])('asks again for a key that %s', async (_, first, outcome) => {
    let find = first;
    const { key, keys, authenticate } = await issued({ find: (hex) => find(hex) });
    expect(await authenticate(key).catch(({ code }) => code)).toBe(outcome);
    find = keys.find;
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
  });

  test('shares one query among the requests with a key in 5 seconds, in which it may have been revoked', async () => {
    const { key, record, keyring, calls, time, authenticate } = await issued();
    const authenticated = { id: record.id, holder: 'the zoo' };
    const requests = Array.from({ length: 100 }, () => authenticate(key));
    expect(await Promise.all(requests)).toStrictEqual(Array(100).fill(authenticated));
    await keyring.revoke(record.id);
    time.now += 5 * SECONDS - 1;
    expect(await authenticate(key)).toStrictEqual(authenticated);
    expect(calls).toEqual(['keys.find', 'keys.recordUse']);
    time.now += 1;
    expect(await authenticate(key)).toBeNull();
  });

  test('keeps a query that began after one that fails later', async () => {
    const slow = Promise.withResolvers<never>();
    const { key, keys, calls, time, authenticate } = await issued({
      find: (hex) => (time.now === NOON ? slow.promise : keys.find(hex)),
    });
    const failing = authenticate(key).catch(({ message }) => message);
    time.now += 5 * SECONDS;
    await authenticate(key);
    slow.reject(new Error('no response'));
    expect(await failing).toBe('no response');
    await authenticate(key);
    expect(calls.filter((name) => name === 'keys.find')).toHaveLength(2);
  });

  test('caches 10,000 keys, and evicts the first of them for another one', async () => {
    const find = async (digest: string) => ({ digest, revokedAt: null, expiresAt: null, lastUsedAt: NOON }) as ApiKey;
    const { calls, authenticate } = await issued({ find });
    const queries = async (from: number, to = from) => {
      const before = calls.length;
      for (let index = from; index <= to; index += 1) await authenticate(`anst_${String(index).padStart(36, '0')}`);
      return calls.length - before;
    };
    expect(await queries(1, 10_000)).toBe(10_000);
    expect(await queries(1, 2)).toBe(0);
    expect(await queries(10_001)).toBe(1);
    expect(await queries(2)).toBe(0);
    expect(await queries(1)).toBe(1);
  });

  test('accepts a valid key even if its use cannot be recorded', async () => {
    // A rejection that nobody handles would fail the run.
    const { key, authenticate } = await issued({ recordUse: UNAVAILABLE.keys.recordUse });
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('records the use of a key in constant use about once a minute, in whole milliseconds', async () => {
    const { key, calls, authenticate, time, lastUse } = await issued();
    const uses = new Set<unknown>();
    time.now += 0.75;
    for (; time.now < NOON + 3 * MINUTE; time.now += 500) {
      expect(await authenticate(key)).not.toBeNull();
      uses.add(await lastUse());
    }
    expect([...uses]).toEqual([NOON, NOON + MINUTE, NOON + 2 * MINUTE]);
    expect(calls.filter((name) => name === 'keys.recordUse')).toHaveLength(uses.size);
  });

  test('replaces a last use in the future, which a clock that was ahead has recorded', async () => {
    const { key, record, keys, time, authenticate, lastUse } = await issued();
    await keys.recordUse(record.id, NOON + 60 * MINUTE);
    await authenticate(key);
    expect(await lastUse()).toBe(NOON);
    time.now += 5 * SECONDS;
    await keys.recordUse(record.id, time.now + MINUTE - 1);
    await authenticate(key);
    expect(await lastUse()).toBe(time.now + MINUTE - 1);
  });
});

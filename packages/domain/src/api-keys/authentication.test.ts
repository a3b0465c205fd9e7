import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { keysInMemory, observed, unavailable } from '../../test/ports-in-memory.ts';
import { rejectionOf } from '../../test/rejection.ts';
import { type ApiKey, describeApiKey, generateApiKey } from './api-key.ts';
import { createAuthentication, KEY_TTL, MAX_CACHED_KEYS } from './authentication.ts';
import type { KeyStore } from './key-store.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const NOON = 1_800_000_000_000;
const MINUTE = 60_000;

/** A key that was issued, and how it is authenticated on a store that holds it. */
async function issuedOn(keys: KeyStore = keysInMemory(), given: Partial<ApiKey> = {}) {
  const key = generateApiKey(randomBytes);
  const record = { ...describeApiKey(key, { holder: 'the zoo', digest, createdAt: NOON, expiresAt: null }), ...given };
  await keys.add(record);
  const { port, calls } = observed(keys);
  const time = { now: NOON };
  const authenticate = createAuthentication({
    configuredKeys: new Map([[digest('a key of my own'), 'me']]),
    issuedKeys: port,
    digest,
    clock: () => time.now,
    monotonicClock: () => time.now,
  });
  return { key, record, keys, calls, time, authenticate };
}

describe('createAuthentication', () => {
  test('finds the id and the holder of an issued key', async () => {
    const { key, authenticate } = await issuedOn();
    expect(await authenticate(key)).toMatchObject({ id: digest(key).slice(0, 16), holder: 'the zoo' });
  });

  test('finds no holder for a key that was never issued', async () => {
    const { authenticate } = await issuedOn();
    expect(await authenticate(generateApiKey(randomBytes))).toBeNull();
  });

  test('accepts a key until it expires, although its record is cached', async () => {
    const { key, authenticate, time } = await issuedOn(keysInMemory(), { expiresAt: NOON + MINUTE });
    time.now = NOON + MINUTE - 1;
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    time.now = NOON + MINUTE;
    expect(await authenticate(key)).toBeNull();
  });

  test('rejects a revoked key, and does not record its use', async () => {
    const { key, keys, calls, authenticate } = await issuedOn(keysInMemory(), { revokedAt: NOON });
    expect(await authenticate(key)).toBeNull();
    expect(calls).toEqual(['find']);
    expect((await keys.list())[0]?.lastUsedAt).toBeNull();
  });

  test('rejects a key 5 seconds after it was revoked', async () => {
    const { key, record, keys, authenticate, time } = await issuedOn();
    await authenticate(key);
    await keys.revoke(record.id, NOON);
    time.now += KEY_TTL;
    expect(await authenticate(key)).toBeNull();
  });

  test('accepts a key at once that was unknown before it was issued', async () => {
    const { authenticate, keys } = await issuedOn();
    const key = generateApiKey(randomBytes);
    expect(await authenticate(key)).toBeNull();
    await keys.add(describeApiKey(key, { holder: 'another zoo', digest, createdAt: NOON, expiresAt: null }));
    expect(await authenticate(key)).toMatchObject({ holder: 'another zoo' });
  });

  test('shares one query among the requests with a key in 5 seconds', async () => {
    const { key, calls, time, authenticate } = await issuedOn(keysInMemory(), { lastUsedAt: NOON });
    await Promise.all(Array.from({ length: 100 }, () => authenticate(key)));
    time.now += KEY_TTL - 1;
    await authenticate(key);
    expect(calls).toEqual(['find']);
    time.now += 1;
    await authenticate(key);
    expect(calls).toEqual(['find', 'find']);
  });

  test('caches a limited number of keys, and drops the oldest', async () => {
    const { key, calls, authenticate } = await issuedOn({
      ...keysInMemory(),
      find: async (digest) => ({ digest, revokedAt: null, expiresAt: null, lastUsedAt: NOON }) as ApiKey,
    });
    await authenticate(key);
    for (let count = 0; count < MAX_CACHED_KEYS; count += 1) await authenticate(generateApiKey(randomBytes));
    const before = calls.length;
    await authenticate(key);
    expect(calls.length).toBe(before + 1);
  });

  test('rejects a text of another form than that of a key without a query', async () => {
    const { key, calls, authenticate } = await issuedOn();
    for (const wrong of ['', 'anst_', key.toUpperCase(), `${key} `, key.slice(1)]) {
      expect(await authenticate(wrong)).toBeNull();
    }
    expect(calls).toEqual([]);
  });

  test('accepts a configured key, of any characters, without a query', async () => {
    const { calls, authenticate } = await issuedOn();
    const id = digest('a key of my own').slice(0, 16);
    expect(await authenticate('a key of my own')).toEqual({ id, holder: 'me' });
    expect(calls).toEqual([]);
  });

  test('does not reject a key as unknown while the storage is unavailable, and asks again', async () => {
    const keys = keysInMemory();
    let isAvailable = false;
    const { key, authenticate } = await issuedOn({
      ...keys,
      find: (hex) => (isAvailable ? keys : unavailable(keys)).find(hex),
    });
    expect((await rejectionOf(() => authenticate(key))).code).toBe('storage_unavailable');
    isAvailable = true;
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
  });

  test('accepts a valid key even if its use cannot be recorded', async () => {
    const recordUse = unavailable(keysInMemory()).recordUse;
    // A rejection that nobody handles would fail the run.
    const { key, authenticate } = await issuedOn({ ...keysInMemory(), recordUse });
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('records the use of a key in constant use about once a minute', async () => {
    const recorded: number[] = [];
    const keys = keysInMemory();
    const { key, authenticate, time } = await issuedOn({
      ...keys,
      recordUse(id, at) {
        recorded.push(at - NOON);
        return keys.recordUse(id, at);
      },
    });
    for (; time.now < NOON + 3 * MINUTE; time.now += 500) expect(await authenticate(key)).not.toBeNull();
    expect(recorded).toEqual([0, MINUTE, 2 * MINUTE]);
  });

  test('records whole milliseconds if the clock is finer', async () => {
    const { key, keys, time, authenticate } = await issuedOn();
    time.now = NOON + 0.75;
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    expect((await keys.list())[0]?.lastUsedAt).toBe(NOON);
  });
});

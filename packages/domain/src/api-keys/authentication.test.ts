import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { keysInMemory, observed, petsInMemory, unavailable } from '../../test/ports-in-memory.ts';
import { rejectionOf } from '../../test/rejection.ts';
import { type ApiKey, generateApiKey } from './api-key.ts';
import { type AuthenticationOptions, createAuthentication } from './authentication.ts';
import type { KeyStore } from './key-store.ts';
import { createKeyring } from './keyring.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const NOON = 1_800_000_000_000;
const SECONDS = 1_000;
const MINUTE = 60 * SECONDS;

/** A key that was issued, and how it is authenticated on a store that holds it. */
async function issuedOn(keys: KeyStore = keysInMemory(), expiresAt: number | null = null) {
  const time = { now: NOON };
  const keyring = createKeyring({ keys, digest, randomBytes, clock: () => time.now });
  const { key, record } = await keyring.issue({ holder: 'the zoo', expiresAt });
  const { port, calls } = observed(keys);
  const authenticate = createAuthentication({
    configuredKeys: new Map([[digest('a key of my own'), 'me']]),
    issuedKeys: port,
    digest,
    clock: () => time.now,
    monotonicClock: () => time.now,
  });
  return { key, record, keys, keyring, calls, time, authenticate };
}

describe('createAuthentication', () => {
  test('finds the id and the holder of an issued key', async () => {
    const { key, authenticate } = await issuedOn();
    expect(await authenticate(key)).toStrictEqual({ id: digest(key).slice(0, 16), holder: 'the zoo' });
  });

  const VALID = {
    ...{ configuredKeys: new Map<string, string>(), issuedKeys: keysInMemory(), digest },
    ...{ clock: () => NOON, monotonicClock: () => NOON },
  } satisfies AuthenticationOptions;
  const CONFIGURED = 'configuredKeys must be a Map of holders by SHA-256 in lower-case hexadecimal digits';
  const ISSUED = 'issuedKeys must be those of a storage: storage.keys';
  const DIGEST = 'digest must be SHA-256 in lower-case hexadecimal digits';
  const CLOCK = 'must return milliseconds';

  test.each<[string, unknown, string]>([
    ['no options', undefined, CONFIGURED],
    ['an object as configured keys', { ...VALID, configuredKeys: { [digest('a key')]: 'me' } }, CONFIGURED],
    ['configured keys that are no digests', { ...VALID, configuredKeys: new Map([['a key', 'me']]) }, CONFIGURED],
    ['a whole storage as issued keys', { ...VALID, issuedKeys: { keys: VALID.issuedKeys } }, ISSUED],
    ['the pets of a storage as issued keys', { ...VALID, issuedKeys: petsInMemory() }, ISSUED],
    ['issued keys without methods', { ...VALID, issuedKeys: { revoke: [] } }, ISSUED],
    ['another digest', { ...VALID, digest: (text: string) => text }, DIGEST],
    ['no clock', { ...VALID, clock: undefined }, `clock ${CLOCK}`],
    ['a monotonic clock without its object', { ...VALID, monotonicClock: performance.now }, `monotonicClock ${CLOCK}`],
  ])('rejects %s, from JavaScript', (_, options, message) => {
    expect(() => createAuthentication(options as AuthenticationOptions)).toThrow(new TypeError(message));
  });

  test('rejects a key that is missing, from JavaScript', async () => {
    const { authenticate } = await issuedOn();
    const error = new TypeError('the key must be a string, was undefined');
    await expect(authenticate(undefined as unknown as string)).rejects.toThrow(error);
  });

  test('accepts a key until it expires, although its record is cached', async () => {
    const { key, authenticate, time } = await issuedOn(keysInMemory(), NOON + MINUTE);
    time.now = NOON + MINUTE - 1;
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    time.now = NOON + MINUTE;
    expect(await authenticate(key)).toBeNull();
  });

  test('rejects a revoked key, and does not record its use', async () => {
    const { key, record, keyring, calls, authenticate } = await issuedOn();
    await keyring.revoke(record.id);
    expect(await authenticate(key)).toBeNull();
    expect(calls).toEqual(['find']);
  });

  test('rejects a key 5 seconds after it was revoked', async () => {
    const { key, record, keyring, authenticate, time } = await issuedOn();
    await authenticate(key);
    await keyring.revoke(record.id);
    time.now += 5 * SECONDS;
    expect(await authenticate(key)).toBeNull();
  });

  test('accepts a key at once that was unknown before it was issued', async () => {
    const { record, authenticate, keys } = await issuedOn();
    const key = generateApiKey(randomBytes);
    expect(await authenticate(key)).toBeNull();
    await keys.add({ ...record, digest: digest(key), holder: 'another zoo' });
    expect(await authenticate(key)).toMatchObject({ holder: 'another zoo' });
  });

  test('shares one query among the requests with a key in 5 seconds', async () => {
    const { key, calls, time, authenticate } = await issuedOn();
    await Promise.all(Array.from({ length: 100 }, () => authenticate(key)));
    time.now += 5 * SECONDS - 1;
    await authenticate(key);
    expect(calls).toEqual(['find', 'recordUse']);
    time.now += 1;
    await authenticate(key);
    expect(calls).toEqual(['find', 'recordUse', 'find']);
  });

  test('caches 10,000 keys, and evicts the first of them for another one', async () => {
    const { calls, authenticate } = await issuedOn({
      ...keysInMemory(),
      find: async (digest) => ({ digest, revokedAt: null, expiresAt: null, lastUsedAt: NOON }) as ApiKey,
    });
    const keys = Array.from({ length: 10_001 }, (_, index) => `anst_${String(index).padStart(36, '0')}`);
    const [first, second] = keys as [string, string];
    const queries = async (...keys: readonly string[]) => {
      const before = calls.length;
      for (const key of keys) await authenticate(key);
      return calls.length - before;
    };
    expect(await queries(...keys.slice(0, 10_000))).toBe(10_000);
    expect(await queries(first, second)).toBe(0);
    expect(await queries(keys[10_000] as string, second)).toBe(1);
    expect(await queries(first)).toBe(1);
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

  test('replaces a last use in the future, which a clock that was ahead has recorded', async () => {
    const { key, record, keys, time, authenticate } = await issuedOn();
    await keys.recordUse(record.id, NOON + 60 * MINUTE);
    await authenticate(key);
    expect((await keys.list())[0]?.lastUsedAt).toBe(NOON);
    time.now += 5 * SECONDS;
    await keys.recordUse(record.id, time.now + MINUTE - 1);
    await authenticate(key);
    expect((await keys.list())[0]?.lastUsedAt).toBe(time.now + MINUTE - 1);
  });

  test('records whole milliseconds if the clock is finer', async () => {
    const { key, keys, time, authenticate } = await issuedOn();
    time.now = NOON + 0.75;
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    expect((await keys.list())[0]?.lastUsedAt).toBe(NOON);
  });
});

import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answeringLater, keysInMemory, observed, outOfReach } from '../test/ports-in-memory.ts';
import { refusalOf } from '../test/refusal.ts';
import { type ApiKey, describeApiKey, generateApiKey } from './api-key.ts';
import { createAuthentication } from './authentication.ts';
import type { KeyStore } from './key-store.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const NOON = 1_800_000_000_000;
const MINUTE = 60_000;

/** A key that was issued, and how it is authenticated on a store that holds it. */
function issuedOn(open: () => KeyStore, given: Partial<ApiKey> = {}) {
  const key = generateApiKey(randomBytes);
  const record = {
    ...describeApiKey(key, { holder: 'the zoo', digest, createdAt: NOON, expiresAt: null }),
    ...given,
  };
  const keys = open();
  keys.add(record);
  const { port, calls } = observed(keys);
  const time = { now: NOON };
  const authenticate = createAuthentication({
    configuredKeys: new Map([[digest('a key of my own'), 'me']]),
    issuedKeys: port,
    digest,
    clock: () => time.now,
  });
  return { key, keys, calls, time, authenticate };
}

describe.each([
  ['at once', keysInMemory],
  ['later', () => answeringLater(keysInMemory())],
])('on storage that answers %s', (_when, open) => {
  test('an issued key finds its holder', async () => {
    const { key, authenticate } = issuedOn(open);
    expect(await authenticate(key)).toBe('the zoo');
  });

  test('a key that was never issued has no holder', async () => {
    const { authenticate } = issuedOn(open);
    expect(await authenticate(generateApiKey(randomBytes))).toBeNull();
  });

  test('a key is good until the moment it expires', async () => {
    const { key, authenticate, time } = issuedOn(open, { expiresAt: NOON + MINUTE });
    time.now = NOON + MINUTE - 1;
    expect(await authenticate(key)).toBe('the zoo');
    time.now = NOON + MINUTE;
    expect(await authenticate(key)).toBeNull();
  });

  test('a revoked key is refused from that moment on, and its use is not noted', async () => {
    const { key, keys, calls, authenticate } = issuedOn(open, { revokedAt: NOON });
    expect(await authenticate(key)).toBeNull();
    expect(calls).toEqual(['find']);
    expect((await keys.list())[0]?.lastUsedAt).toBeNull();
  });
});

test('a key with a typing error, or of another form, costs no query', async () => {
  const { key, calls, authenticate } = issuedOn(keysInMemory);
  const mistyped = key.slice(0, 10) + (key[10] === 'x' ? 'y' : 'x') + key.slice(11);
  for (const wrong of [mistyped, '', 'anst_', key.toUpperCase(), `${key} `, key.slice(1)]) {
    expect(authenticate(wrong)).toBeNull();
  }
  expect(calls).toEqual([]);
  expect(authenticate(key)).toBe('the zoo');
  expect(calls).toContain('find');
});

test('a configured key needs no storage, and any characters', () => {
  const { calls, authenticate } = issuedOn(keysInMemory);
  expect(authenticate('a key of my own')).toBe('me');
  expect(calls).toEqual([]);
});

test('while the storage is out of reach nobody is told that a key is wrong', async () => {
  const key = generateApiKey(randomBytes);
  const authenticate = createAuthentication({
    configuredKeys: new Map(),
    issuedKeys: outOfReach(keysInMemory()),
    digest,
    clock: () => NOON,
  });
  expect((await refusalOf(() => authenticate(key))).code).toBe('service_unavailable');
});

test.each([
  [
    'at once',
    () => {
      throw new Error('out of reach');
    },
  ],
  ['later', () => Promise.reject(new Error('out of reach'))],
  [
    'later, by something that is like a promise',
    // biome-ignore lint/suspicious/noThenProperty: that is what it is about.
    () => ({ then: (_fulfilled: unknown, rejected: (error: Error) => void) => rejected(new Error('out of reach')) }),
  ],
] as unknown as [string, KeyStore['recordUse']][])(
  'a good key is accepted even where its use cannot be noted, told %s',
  async (_when, recordUse) => {
    const { key, authenticate } = issuedOn(() => ({ ...keysInMemory(), recordUse }));
    // A rejection that nobody handles would fail the run.
    expect(await authenticate(key)).toBe('the zoo');
    await new Promise((resolve) => setTimeout(resolve, 10));
  },
);

test('a key in constant use is noted at its first use, and then once a minute', () => {
  const notes: [string, number][] = [];
  const { key, authenticate, time } = issuedOn(() => {
    const keys = keysInMemory();
    return {
      ...keys,
      recordUse(id, at) {
        notes.push([id, at]);
        return keys.recordUse(id, at);
      },
    };
  });
  for (; time.now < NOON + 3 * MINUTE; time.now += 500) expect(authenticate(key)).toBe('the zoo');
  const id = digest(key).slice(0, 16);
  expect(notes).toEqual([
    [id, NOON],
    [id, NOON + MINUTE],
    [id, NOON + 2 * MINUTE],
  ]);
});

test('of a clock that is finer than a millisecond whole milliseconds are noted', async () => {
  const { key, keys, time, authenticate } = issuedOn(keysInMemory);
  time.now = NOON + 0.75;
  expect(authenticate(key)).toBe('the zoo');
  expect((await keys.list())[0]?.lastUsedAt).toBe(NOON);
});

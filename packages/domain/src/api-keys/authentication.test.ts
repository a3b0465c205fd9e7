import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { asynchronous, keysInMemory, observed, unavailable } from '../../test/ports-in-memory.ts';
import { rejectionOf } from '../../test/rejection.ts';
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
  ['later', () => asynchronous(keysInMemory())],
])('createAuthentication, on storage that responds %s', (_when, open) => {
  test('finds the id and the holder of an issued key', async () => {
    const { key, authenticate } = issuedOn(open);
    expect(await authenticate(key)).toMatchObject({ id: digest(key).slice(0, 16), holder: 'the zoo' });
  });

  test('finds no holder for a key that was never issued', async () => {
    const { authenticate } = issuedOn(open);
    expect(await authenticate(generateApiKey(randomBytes))).toBeNull();
  });

  test('accepts a key until it expires', async () => {
    const { key, authenticate, time } = issuedOn(open, { expiresAt: NOON + MINUTE });
    time.now = NOON + MINUTE - 1;
    expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    time.now = NOON + MINUTE;
    expect(await authenticate(key)).toBeNull();
  });

  test('rejects a revoked key, and does not record its use', async () => {
    const { key, keys, calls, authenticate } = issuedOn(open, { revokedAt: NOON });
    expect(await authenticate(key)).toBeNull();
    expect(calls).toEqual(['find']);
    expect((await keys.list())[0]?.lastUsedAt).toBeNull();
  });
});

describe('createAuthentication', () => {
  test('rejects a key with a typing error or of another form without a query', async () => {
    const { key, calls, authenticate } = issuedOn(keysInMemory);
    const mistyped = key.slice(0, 10) + (key[10] === 'x' ? 'y' : 'x') + key.slice(11);
    for (const wrong of [mistyped, '', 'anst_', key.toUpperCase(), `${key} `, key.slice(1)]) {
      expect(authenticate(wrong)).toBeNull();
    }
    expect(calls).toEqual([]);
    expect(authenticate(key)).toMatchObject({ holder: 'the zoo' });
    expect(calls).toContain('find');
  });

  test('accepts a configured key, of any characters, without a query', () => {
    const { calls, authenticate } = issuedOn(keysInMemory);
    const id = digest('a key of my own').slice(0, 16);
    expect(authenticate('a key of my own')).toEqual({ id, holder: 'me' });
    expect(calls).toEqual([]);
  });

  test('does not reject a key as unknown while the storage is unavailable', async () => {
    const key = generateApiKey(randomBytes);
    const authenticate = createAuthentication({
      configuredKeys: new Map(),
      issuedKeys: unavailable(keysInMemory()),
      digest,
      clock: () => NOON,
    });
    expect((await rejectionOf(() => authenticate(key))).code).toBe('storage_unavailable');
  });

  test.each([
    [
      'at once',
      () => {
        throw new Error('unavailable');
      },
    ],
    ['later', () => Promise.reject(new Error('unavailable'))],
    [
      'later, with a thenable',
      // biome-ignore lint/suspicious/noThenProperty: a thenable is the subject of this test.
      () => ({ then: (_fulfilled: unknown, rejected: (error: Error) => void) => rejected(new Error('unavailable')) }),
    ],
  ] as unknown as [string, KeyStore['recordUse']][])(
    'accepts a valid key even if recording its use fails %s',
    async (_when, recordUse) => {
      const { key, authenticate } = issuedOn(() => ({ ...keysInMemory(), recordUse }));
      // A rejection that nobody handles would fail the run.
      expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
      await new Promise((resolve) => setTimeout(resolve, 10));
    },
  );

  test('records the use of a key in constant use once a minute', async () => {
    const recorded: [string, number][] = [];
    const { key, authenticate, time } = issuedOn(() => {
      const keys = keysInMemory();
      return {
        ...keys,
        recordUse(id, at) {
          recorded.push([id, at]);
          return keys.recordUse(id, at);
        },
      };
    });
    for (; time.now < NOON + 3 * MINUTE; time.now += 500)
      expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    const id = digest(key).slice(0, 16);
    expect(recorded).toEqual([
      [id, NOON],
      [id, NOON + MINUTE],
      [id, NOON + 2 * MINUTE],
    ]);
  });

  test.each(['succeeds', 'fails'])('records a use again only when the call before %s', async (end) => {
    const pending: PromiseWithResolvers<void>[] = [];
    const { key, authenticate } = issuedOn(() => ({
      ...keysInMemory(),
      recordUse() {
        pending.push(Promise.withResolvers());
        return (pending.at(-1) as PromiseWithResolvers<void>).promise;
      },
    }));
    for (let count = 0; count < 100; count += 1) expect(authenticate(key)).toMatchObject({ holder: 'the zoo' });
    expect(pending).toHaveLength(1);
    if (end === 'succeeds') pending[0]?.resolve();
    else pending[0]?.reject(new Error('unavailable'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(authenticate(key)).toMatchObject({ holder: 'the zoo' });
    expect(pending).toHaveLength(2);
  });

  test('records a use again after a call that has thrown', async () => {
    let calls = 0;
    const { key, authenticate } = issuedOn(() => ({
      ...keysInMemory(),
      recordUse() {
        calls += 1;
        throw new Error('unavailable');
      },
    }));
    for (let count = 0; count < 2; count += 1) expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    expect(calls).toBe(2);
  });

  test('records whole milliseconds if the clock is finer', async () => {
    const { key, keys, time, authenticate } = issuedOn(keysInMemory);
    time.now = NOON + 0.75;
    expect(authenticate(key)).toMatchObject({ holder: 'the zoo' });
    expect((await keys.list())[0]?.lastUsedAt).toBe(NOON);
  });
});

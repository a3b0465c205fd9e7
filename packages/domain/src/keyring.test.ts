import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answeringLater, keysInMemory, observed, outOfReach } from '../test/ports-in-memory.ts';
import { refusalOf } from '../test/refusal.ts';
import { isWellFormedApiKey } from './api-key.ts';
import type { KeyStore } from './key-store.ts';
import { createKeyring, holderViolation } from './keyring.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const NOON = 1_800_000_000_000;
const LAST_EXPIRY = Date.UTC(275_760, 0) - 1;

const keyringOn = (keys: KeyStore, now = NOON) => createKeyring({ keys, digest, randomBytes, clock: () => now });

describe.each([
  ['at once', keysInMemory],
  ['later', () => answeringLater(keysInMemory())],
])('a key, on storage that answers %s,', (_when, open) => {
  test('is handed out once, and kept as a digest', async () => {
    const keyring = keyringOn(open());
    const { key, record } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(record).toStrictEqual({
      id: digest(key).slice(0, 16),
      digest: digest(key),
      visiblePrefix: key.slice(0, 9),
      holder: 'the zoo',
      createdAt: NOON,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
    expect(await keyring.list()).toStrictEqual([record]);
  });

  test('can be revoked, and is then listed as revoked', async () => {
    const keys = open();
    const { record } = await keyringOn(keys).issue({ holder: 'the zoo', expiresAt: null });
    expect(await keyringOn(keys, NOON + 5).revoke(record.id)).toStrictEqual({ ...record, revokedAt: NOON + 5 });
    expect(await keyringOn(keys).list()).toStrictEqual([{ ...record, revokedAt: NOON + 5 }]);
    expect(await keyringOn(keys).revoke('0000000000000000')).toBeNull();
  });
});

test('of a clock that is finer than a millisecond the whole milliseconds are kept', async () => {
  const keyring = keyringOn(keysInMemory(), NOON + 0.75);
  const { record } = await keyring.issue({ holder: 'the zoo', expiresAt: NOON + 1 });
  expect(record.createdAt).toBe(NOON);
  expect(await keyring.revoke(record.id)).toMatchObject({ revokedAt: NOON });
});

test('a key that cannot be stored is not handed out', async () => {
  for (const keys of [outOfReach(keysInMemory()), answeringLater(outOfReach(keysInMemory()))]) {
    const { code } = await refusalOf(() => keyringOn(keys).issue({ holder: 'the zoo', expiresAt: null }));
    expect(code).toBe('service_unavailable');
  }
});

test.each(['z', '~!', 'the zoo', 'z'.repeat(100), `z${' '.repeat(98)}z`])(
  'a holder can be called %.20j',
  async (holder) => {
    expect((await keyringOn(keysInMemory()).issue({ holder, expiresAt: null })).record.holder).toBe(holder);
  },
);

test.each([null, NOON + 1, LAST_EXPIRY])('a key can expire at %s', async (expiresAt) => {
  const { record } = await keyringOn(keysInMemory()).issue({ holder: 'the zoo', expiresAt });
  expect(record.expiresAt).toBe(expiresAt);
});

describe('no key is issued', () => {
  const HOLDER = 'holder must be 1 to 100 printable ASCII characters without outer spaces, was';
  const EXPIRY = 'the moment of expiry must be in the future, before the year 275760';

  async function refused(request: { holder: string; expiresAt: number | null }, message: string) {
    const { port, calls } = observed(keysInMemory());
    expect(await refusalOf(() => keyringOn(port).issue(request))).toEqual({ code: 'invalid_request', message });
    expect(calls).toEqual([]);
  }

  test.each([
    ['', '""'],
    [' ', '" "'],
    [' the zoo', '" the zoo"'],
    ['the zoo ', '"the zoo "'],
    ['the\nzoo', '"the\\nzoo"'],
    ['the zoo\n', '"the zoo\\n"'],
    ['the zöo', '"the zöo"'],
    ['the\u007fzoo', '"the\u007fzoo"'],
    ['z'.repeat(101), `"${'z'.repeat(40)}"…`],
  ])('to the holder %j', (holder, quote) => refused({ holder, expiresAt: null }, `${HOLDER} ${quote}`));

  test.each([NOON, NOON - 1, 0, -1, NOON + 0.5, LAST_EXPIRY + 1, Number.POSITIVE_INFINITY, Number.NaN])(
    'that would expire at %d',
    (expiresAt) => refused({ holder: 'the zoo', expiresAt }, EXPIRY),
  );

  test('for several reasons without each of them being named', () =>
    refused({ holder: '', expiresAt: NOON }, `${HOLDER} ""; ${EXPIRY}`));
});

test('what is no text is no holder', () => {
  expect(holderViolation('the zoo')).toBeNull();
  for (const holder of [undefined, null, 7]) expect(holderViolation(holder)).toMatch(/^holder must be /);
});

import { hash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { keysInMemory, observed, petsInMemory, unavailable } from '../../test/ports-in-memory.ts';
import { rejectionOf } from '../../test/rejection.ts';
import { quote } from '../quote.ts';
import { isApiKey } from './api-key.ts';
import type { KeyStore } from './key-store.ts';
import { createKeyring, type KeyringOptions } from './keyring.ts';

const digest = (text: string) => hash('sha256', text);
const NOON = 1_800_000_000_000;
const LAST_EXPIRY = Date.UTC(275_760, 0) - 1;

const keyringOn = (keys: KeyStore, now = NOON) => createKeyring({ keys, digest, randomBytes, clock: () => now });

describe('createKeyring', () => {
  test('returns a new key once, and stores its digest', async () => {
    const keyring = keyringOn(keysInMemory());
    const { key, record } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
    expect(isApiKey(key)).toBe(true);
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

  test('revokes a key, and lists it as revoked', async () => {
    const keys = keysInMemory();
    const { record } = await keyringOn(keys).issue({ holder: 'the zoo', expiresAt: null });
    expect(await keyringOn(keys, NOON + 5).revoke(record.id)).toStrictEqual({ ...record, revokedAt: NOON + 5 });
    expect(await keyringOn(keys).list()).toStrictEqual([{ ...record, revokedAt: NOON + 5 }]);
  });

  test('removes the keys that expired before a time', async () => {
    const keys = keysInMemory();
    const { record } = await keyringOn(keys).issue({ holder: 'the zoo', expiresAt: NOON + 5 });
    const later = keyringOn(keys, NOON + 6);
    expect(await later.prune(NOON + 5)).toBe(0);
    expect(await later.list()).toStrictEqual([record]);
    expect(await later.prune(NOON + 6)).toBe(1);
    expect(await later.list()).toStrictEqual([]);
  });

  test.each([
    ...['x0000000000000000', '0000000000000000x', `anst_${'k'.repeat(36)}`, 'a\0b', '\ud800', '', '$where'],
    ...[{ $ne: null }, ['0000000000000000']],
    '0000000000000000',
  ])('rejects the id %j, which no key has, and does not repeat it: it may be a key', async (id) => {
    const { port, calls } = observed(keysInMemory());
    const keyring = keyringOn(port);
    const { record } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
    expect(await rejectionOf(() => keyring.revoke(id as string))).toEqual({
      code: 'key_not_found',
      message: 'no API key has this id: the list of keys shows the ids, 16 hexadecimal digits each',
    });
    expect(calls).toEqual(id === '0000000000000000' ? ['add', 'revoke'] : ['add']);
    expect(await keyring.list()).toStrictEqual([record]);
  });

  const KEYS = 'keys must be those of a storage: storage.keys';
  const DIGEST = 'digest must be SHA-256 in lower-case hexadecimal digits';
  const BYTES = 'randomBytes must return bytes';
  const CLOCK = 'clock must return milliseconds';
  const hexBytes = (size: number) => randomBytes(size).toString('hex');

  test.each<[string, (valid: KeyringOptions) => unknown, string]>([
    ['no options', () => undefined, KEYS],
    ['the keys of a storage in the place of its options', ({ keys }) => keys, KEYS],
    ['a whole storage as keys', ({ keys, ...valid }) => ({ ...valid, keys: { keys } }), KEYS],
    ['the pets of a storage as keys', (valid) => ({ ...valid, keys: petsInMemory() }), KEYS],
    ['keys without methods', (valid) => ({ ...valid, keys: { revoke: [] } }), KEYS],
    ['no digest', (valid) => ({ ...valid, digest: undefined }), DIGEST],
    ['the text itself as digest', (valid) => ({ ...valid, digest: (text: string) => text }), DIGEST],
    ['digests in upper case', (valid) => ({ ...valid, digest: (text: string) => digest(text).toUpperCase() }), DIGEST],
    ['SHA-1', (valid) => ({ ...valid, digest: (text: string) => hash('sha1', text) }), DIGEST],
    ['no random bytes', (valid) => ({ ...valid, randomBytes: undefined }), BYTES],
    ['random digits', (valid) => ({ ...valid, randomBytes: hexBytes }), BYTES],
    ['no clock', (valid) => ({ ...valid, clock: undefined }), CLOCK],
    ['a clock of dates', (valid) => ({ ...valid, clock: () => new Date() }), CLOCK],
  ])('rejects %s, from JavaScript', (_, optionsOf, message) => {
    const options = optionsOf({ keys: keysInMemory(), digest, randomBytes, clock: () => NOON });
    expect(() => createKeyring(options as KeyringOptions)).toThrow(new TypeError(message));
  });

  test('stores whole milliseconds if the clock is finer', async () => {
    const keyring = keyringOn(keysInMemory(), NOON + 0.75);
    const { record } = await keyring.issue({ holder: 'the zoo', expiresAt: NOON + 1 });
    expect(record.createdAt).toBe(NOON);
    expect(await keyring.revoke(record.id)).toMatchObject({ revokedAt: NOON });
  });

  test('rejects if it cannot store the key', async () => {
    const keys = unavailable(keysInMemory());
    const { code } = await rejectionOf(() => keyringOn(keys).issue({ holder: 'the zoo', expiresAt: null }));
    expect(code).toBe('storage_unavailable');
  });

  test.each(['z', '~!', 'the zoo', 'z'.repeat(100), `z${' '.repeat(98)}z`])(
    'accepts the holder %.20j',
    async (holder) => {
      expect((await keyringOn(keysInMemory()).issue({ holder, expiresAt: null })).record.holder).toBe(holder);
    },
  );

  test.each([null, NOON + 1, LAST_EXPIRY])('accepts a key that expires at %s', async (expiresAt) => {
    const { record } = await keyringOn(keysInMemory()).issue({ holder: 'the zoo', expiresAt });
    expect(record.expiresAt).toBe(expiresAt);
  });

  const HOLDER =
    'holder must be 1 to 100 printable ASCII characters without outer spaces and not begin with configured-, was';
  const EXPIRY =
    'expiresAt must be null or whole milliseconds since the epoch, in the future and before the year 275760, was';

  async function expectRejected(request: unknown, message: string) {
    const { port, calls } = observed(keysInMemory());
    const issue = () => keyringOn(port).issue(request as { holder: string; expiresAt: number | null });
    expect(await rejectionOf(issue)).toEqual({ code: 'invalid', message });
    expect(calls).toEqual([]);
  }

  const NAMES = ['', ' ', ' the zoo', 'the zoo ', 'the\nzoo', 'the zoo\n', 'the zöo', 'the\u007fzoo', 'z'.repeat(101)];
  test.each([...NAMES, 'configured-0123456789abcdef', undefined, null, 7])('issues no key to the holder %j', (holder) =>
    expectRejected({ holder, expiresAt: null }, `${HOLDER} ${quote(holder)}`),
  );

  const PAST = [NOON, NOON - 1, 0, -1];
  test.each([...PAST, NOON + 0.5, LAST_EXPIRY + 1, Number.NaN, undefined, '1', 1n])(
    'issues no key that expires at %s',
    (expiresAt) => expectRejected({ holder: 'the zoo', expiresAt }, `${EXPIRY} ${quote(expiresAt)}`),
  );

  test.each([NOON + 1, NOON + 0.5, -1, Number.NaN, undefined, '1'])('removes no keys before %j', async (before) => {
    const { port, calls } = observed(keysInMemory());
    expect(await rejectionOf(() => keyringOn(port).prune(before as number))).toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/^before must be whole milliseconds since the epoch, not in the future, was /),
    });
    expect(calls).toEqual([]);
    expect(await keyringOn(port).prune(0)).toBe(0);
  });

  test.each([
    [{ holder: '', expiresAt: NOON }, `${HOLDER} ""; ${EXPIRY} the number ${NOON}`],
    [undefined, `${HOLDER} missing; ${EXPIRY} missing`],
  ])('names all violations of %j at once', (request, message) => expectRejected(request, message));
});

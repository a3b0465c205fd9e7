import { hash, randomBytes } from 'node:crypto';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { describe, expect, test } from 'vitest';
import { observed, UNAVAILABLE } from '../../test/ports.ts';
import { quote } from '../quote.ts';
import { isApiKey } from './api-key.ts';
import { type ApiKeyPage, createKeyring } from './keyring.ts';

const digest = (text: string) => hash('sha256', text);
const NOON = 1_800_000_000_000;
const LAST_EXPIRY = Date.UTC(275_760, 0) - 1;

/** A request for a key that is valid at noon. */
const FOREVER = { holder: 'the zoo', expiresAt: null };

const keyringOn = (keys = createMemoryStorage().keys, now = NOON) =>
  createKeyring({ keys, digest, randomBytes, clock: () => now });

describe('createKeyring', () => {
  test('issues, lists and revokes keys, at whole milliseconds', async () => {
    const { keys } = createMemoryStorage();
    const [keyring, later] = [keyringOn(keys, NOON + 0.75), keyringOn(keys, NOON + 5.75)];
    const { key, record } = await keyring.issue(FOREVER);
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
    expect(await keyring.list()).toStrictEqual({ keys: [record], next: null });
    const revoked = { ...record, revokedAt: NOON + 5 };
    expect(await later.revoke(record.id)).toStrictEqual(revoked);
    expect(await later.list()).toStrictEqual({ keys: [revoked], next: null });
  });

  test('lists keys by pages in order of id, 20 if no limit is given', async () => {
    const { keys } = createMemoryStorage();
    const keyring = keyringOn(keys);
    const ids: string[] = [];
    for (let count = 0; count < 50; count += 1) ids.push((await keyring.issue(FOREVER)).record.id);
    ids.sort();
    const idsOf = ({ keys }: ApiKeyPage) => keys.map(({ id }) => id);
    const first = await keyring.list();
    expect([idsOf(first), first.next]).toEqual([ids.slice(0, 20), ids[19]]);
    const second = await keyring.list({ after: ids[19], limit: 29 });
    expect([idsOf(second), second.next]).toEqual([ids.slice(20, 49), ids[48]]);
    const last = await keyring.list({ after: ids[48], limit: 1 });
    expect([idsOf(last), last.next]).toEqual([ids.slice(49), null]);
  });

  test.each<[object, string]>([
    [{ limit: 0 }, 'limit must be an integer from 1 to 100, was 0'],
    [{ limit: 101 }, 'limit must be an integer from 1 to 100, was 101'],
    [{ limit: '7' }, 'limit must be an integer from 1 to 100, was "7"'],
    [{ limit: null, after: 'x' }, 'limit must be an integer from 1 to 100, was null; after must be the next of a page'],
    [{ after: `anst_${'k'.repeat(36)}` }, 'after must be the next of a page'],
    [{ after: { $gt: '' } }, 'after must be the next of a page'],
  ])('lists no keys for %o, and names each violation', async (query, message) => {
    const { keys, calls } = observed();
    await expect(keyringOn(keys).list(query)).rejects.toMatchObject({ code: 'invalid', message });
    expect(calls).toEqual([]);
  });

  test.each([
    ...['x0000000000000000', '0000000000000000x', `anst_${'k'.repeat(36)}`, 'a\0b', '\ud800', '', '$where'],
    ...[{ $ne: null }, ['0000000000000000']],
    '0000000000000000',
  ])('rejects the id %j, which no key has, and does not repeat it: it may be a key', async (id) => {
    const { keys, calls } = observed();
    await expect(keyringOn(keys).revoke(id as string)).rejects.toMatchObject({
      code: 'key_not_found',
      message: 'no API key has this id: the list of keys shows the ids, 16 hexadecimal digits each',
    });
    expect(calls).toEqual(id === '0000000000000000' ? ['keys.revoke'] : []);
  });

  test('rejects if it cannot store the key', async () => {
    const issuing = keyringOn(UNAVAILABLE.keys).issue(FOREVER);
    await expect(issuing).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  test.each([
    ...['z', '~!', 'the zoo', 'z'.repeat(100), `z${' '.repeat(98)}z`].map((holder) => ({ ...FOREVER, holder })),
    ...[null, NOON + 1, LAST_EXPIRY].map((expiresAt) => ({ ...FOREVER, expiresAt })),
  ])('issues a key for %o', async (request) => {
    expect((await keyringOn().issue(request)).record).toMatchObject(request);
  });

  const HOLDER =
    'holder must be 1 to 100 printable ASCII characters without outer spaces and not begin with configured-, was';
  const EXPIRY =
    'expiresAt must be null or whole milliseconds since the epoch, in the future and before the year 275760, was';
  const NAMES = ['', ' ', ' the zoo', 'the zoo ', 'the\nzoo', 'the zoo\n', 'the zöo', 'the\u007fzoo', 'z'.repeat(101)];
  const TIMES = [NOON, NOON - 1, 0, -1, NOON + 0.5, LAST_EXPIRY + 1, Number.NaN, undefined, '1', 1n];

  test.each<[unknown, string]>([
    ...[...NAMES, 'configured-0123456789abcdef', undefined, null, 7].map((holder): [unknown, string] => [
      { ...FOREVER, holder },
      `${HOLDER} ${quote(holder)}`,
    ]),
    ...TIMES.map((expiresAt): [unknown, string] => [{ ...FOREVER, expiresAt }, `${EXPIRY} ${quote(expiresAt)}`]),
    [{ holder: '', expiresAt: NOON }, `${HOLDER} ""; ${EXPIRY} the number ${NOON}`],
    [undefined, `${HOLDER} missing; ${EXPIRY} missing`],
  ])('issues no key for %o, and names each violation', async (request, message) => {
    const { keys, calls } = observed();
    const issuing = keyringOn(keys).issue(request as typeof FOREVER);
    await expect(issuing).rejects.toMatchObject({ code: 'invalid', message });
    expect(calls).toEqual([]);
  });
});

import { createHash, randomBytes } from 'node:crypto';
import {
  createAuthentication,
  createKeyring,
  DomainError,
  isWellFormedApiKey,
  type Storage,
} from '@animal-store/domain';
import { describe, expect, test, vi } from 'vitest';
import { codeOf } from './catalogue-contract.ts';
import { type OpenStorage, storageForTest } from './open-storage.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const NOON = 1_800_000_000_000;
const MINUTE = 60_000;
const LAST_EXPIRY = Date.UTC(275_760, 0) - 1;

function onStorage({ keys }: Storage, configuredKeys: ReadonlyMap<string, string> = new Map()) {
  const time = { now: NOON };
  const clock = () => time.now;
  return {
    time,
    keyring: createKeyring({ keys, digest, randomBytes, clock }),
    authenticate: createAuthentication({ configuredKeys, issuedKeys: keys, digest, clock }),
  };
}

/** What issuing, presenting and revoking API keys does on any storage. */
export function authenticationContract(open: OpenStorage): void {
  describe('API keys in use', () => {
    test('an issued key finds its holder, and is stored as a digest only', async () => {
      const storage = await storageForTest(open);
      const { keyring, authenticate } = onStorage(storage);
      const { key, record } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      expect(isWellFormedApiKey(key)).toBe(true);
      expect(record).toMatchObject({ digest: digest(key), holder: 'the zoo', createdAt: NOON, revokedAt: null });
      expect(await authenticate(key)).toBe('the zoo');
      const [stored] = await keyring.list();
      expect(JSON.stringify(stored)).not.toContain(key);
      expect(key.startsWith(stored?.visiblePrefix ?? '?')).toBe(true);
    });

    test('a key that nobody issued has no holder', async () => {
      const { keyring, authenticate } = onStorage(await storageForTest(open));
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      const other = onStorage(await storageForTest(open));
      expect(await other.authenticate(key)).toBeNull();
      for (const wrong of ['', 'anst_', key.toUpperCase(), `${key} `, key.slice(1)]) {
        expect(await authenticate(wrong)).toBeNull();
      }
    });

    test('a key with a typing error costs no query', async () => {
      const storage = await storageForTest(open);
      const find = vi.spyOn(storage.keys, 'find');
      const { keyring, authenticate } = onStorage(storage);
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      const mistyped = key.slice(0, 10) + (key[10] === 'x' ? 'y' : 'x') + key.slice(11);
      expect(await authenticate(mistyped)).toBeNull();
      expect(find).not.toHaveBeenCalled();
      expect(await authenticate(key)).toBe('the zoo');
      expect(find).toHaveBeenCalled();
    });

    test('a revoked key is refused at once, the other keys of its holder are not', async () => {
      const { keyring, authenticate } = onStorage(await storageForTest(open));
      const [old, fresh] = [
        await keyring.issue({ holder: 'the zoo', expiresAt: null }),
        await keyring.issue({ holder: 'the zoo', expiresAt: null }),
      ];
      expect(await authenticate(old.key)).toBe('the zoo');
      expect(await keyring.revoke(old.record.id)).toMatchObject({ id: old.record.id, revokedAt: NOON });
      expect(await authenticate(old.key)).toBeNull();
      expect(await authenticate(fresh.key)).toBe('the zoo');
      expect(await keyring.revoke('0000000000000000')).toBeNull();
    });

    test('a key is good until the moment it expires', async () => {
      const { keyring, authenticate, time } = onStorage(await storageForTest(open));
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: NOON + MINUTE });
      time.now = NOON + MINUTE - 1;
      expect(await authenticate(key)).toBe('the zoo');
      time.now = NOON + MINUTE;
      expect(await authenticate(key)).toBeNull();
    });

    test('the last use is kept to a minute', async () => {
      const { keyring, authenticate, time } = onStorage(await storageForTest(open));
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      const lastUse = async () => (await keyring.list())[0]?.lastUsedAt;
      expect(await lastUse()).toBeNull();
      await authenticate(key);
      await expect.poll(lastUse).toBe(NOON);
      time.now = NOON + MINUTE - 1;
      await authenticate(key);
      time.now = NOON + MINUTE;
      await authenticate(key);
      await expect.poll(lastUse).toBe(NOON + MINUTE);
    });

    test('a clock that is finer than a millisecond will do', async () => {
      const { keyring, authenticate, time } = onStorage(await storageForTest(open));
      time.now += 0.75;
      const { key, record } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      expect(record.createdAt).toBe(NOON);
      expect(await authenticate(key)).toBe('the zoo');
      await vi.waitFor(async () => expect((await keyring.list())[0]?.lastUsedAt).toBe(NOON));
      expect(await keyring.revoke(record.id)).toMatchObject({ revokedAt: NOON });
      expect(await authenticate(key)).toBeNull();
    });

    test('configured keys need no storage', async () => {
      const storage = await storageForTest(open);
      const { authenticate } = onStorage(storage, new Map([[digest('a key of my own'), 'me']]));
      const find = vi.spyOn(storage.keys, 'find');
      expect(authenticate('a key of my own')).toBe('me');
      expect(find).not.toHaveBeenCalled();
    });

    test('a key that cannot be stored is not handed out', async () => {
      const storage = await storageForTest(open);
      vi.spyOn(storage.keys, 'add').mockImplementation(() =>
        Promise.reject(new DomainError('service_unavailable', 'x')),
      );
      const { keyring } = onStorage(storage);
      expect(await codeOf(() => keyring.issue({ holder: 'the zoo', expiresAt: null }))).toBe('service_unavailable');
    });

    test.each(['z', '~!', 'the zoo', 'z'.repeat(100), `z${' '.repeat(98)}z`])(
      'a holder can be called %.20j',
      async (holder) => {
        const { keyring, authenticate } = onStorage(await storageForTest(open));
        const { key } = await keyring.issue({ holder, expiresAt: null });
        expect(await authenticate(key)).toBe(holder);
      },
    );

    test.each([NOON + 1, LAST_EXPIRY])('a key that expires at %d is issued, and listed so', async (expiresAt) => {
      const { keyring } = onStorage(await storageForTest(open));
      await keyring.issue({ holder: 'the zoo', expiresAt });
      expect((await keyring.list()).map((key) => key.expiresAt)).toEqual([expiresAt]);
    });

    test.each([
      { holder: '', expiresAt: null },
      { holder: ' the zoo', expiresAt: null },
      { holder: 'the zoo ', expiresAt: null },
      { holder: 'the\nzoo', expiresAt: null },
      { holder: 'z'.repeat(101), expiresAt: null },
      { holder: 'the zoo', expiresAt: NOON },
      { holder: 'the zoo', expiresAt: NOON + 0.5 },
      { holder: 'the zoo', expiresAt: LAST_EXPIRY + 1 },
      { holder: 'the zoo', expiresAt: Number.POSITIVE_INFINITY },
      { holder: 'the zoo', expiresAt: Number.NaN },
    ])('a key for %o is not issued', async (request) => {
      const { keyring } = onStorage(await storageForTest(open));
      expect(await codeOf(() => keyring.issue(request))).toBe('invalid_request');
      expect(await keyring.list()).toEqual([]);
    });
  });
}

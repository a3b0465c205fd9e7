import { createHash, randomBytes } from 'node:crypto';
import { createKeyring } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { createAuthentication } from '@animal-store/domain/transport';
import { describe, expect, test } from 'vitest';
import { emptyStorage, type StorageUnderTest } from './storage-under-test.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const NOON = 1_800_000_000_000;
const MINUTE = 60_000;

function onStorage({ keys }: PetStorage) {
  const time = { now: NOON };
  const clock = () => time.now;
  return {
    time,
    keyring: createKeyring({ keys, digest, randomBytes, clock }),
    authenticate: createAuthentication({ configuredKeys: new Map(), issuedKeys: keys, digest, clock }),
  };
}

/** Issuing, authenticating and revoking API keys on a storage. */
export function authenticationContract<Place>(adapter: StorageUnderTest<Place>): void {
  describe('authentication', () => {
    test('finds the holder of an issued key, and stores only its digest', async () => {
      const { keyring, authenticate } = onStorage(await emptyStorage(adapter));
      const { key, record } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      const stored = await keyring.list();
      expect(stored).toStrictEqual([record]);
      expect(JSON.stringify(stored)).not.toContain(key);
      expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    });

    test('finds no holder for a key that was issued elsewhere', async () => {
      const { keyring } = onStorage(await emptyStorage(adapter));
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      const other = onStorage(await emptyStorage(adapter));
      expect(await other.authenticate(key)).toBeNull();
    });

    test('rejects a revoked key at once, but not the other keys of its holder', async () => {
      const { keyring, authenticate } = onStorage(await emptyStorage(adapter));
      const [old, fresh] = [
        await keyring.issue({ holder: 'the zoo', expiresAt: null }),
        await keyring.issue({ holder: 'the zoo', expiresAt: null }),
      ];
      expect(await authenticate(old.key)).toMatchObject({ holder: 'the zoo' });
      expect(await keyring.revoke(old.record.id)).toMatchObject({ id: old.record.id, revokedAt: NOON });
      expect(await authenticate(old.key)).toBeNull();
      expect(await authenticate(fresh.key)).toMatchObject({ holder: 'the zoo' });
      await expect(keyring.revoke('0000000000000000')).rejects.toMatchObject({ code: 'key_not_found' });
    });

    test('accepts a key until it expires', async () => {
      const { keyring, authenticate, time } = onStorage(await emptyStorage(adapter));
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: NOON + MINUTE });
      time.now = NOON + MINUTE - 1;
      expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
      time.now = NOON + MINUTE;
      expect(await authenticate(key)).toBeNull();
    });

    test('records the last use to a minute', async () => {
      const { keyring, authenticate, time } = onStorage(await emptyStorage(adapter));
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      const lastUse = async () => (await keyring.list())[0]?.lastUsedAt;
      expect(await lastUse()).toBeNull();
      await authenticate(key);
      await expect.poll(lastUse, { timeout: 15_000 }).toBe(NOON);
      time.now = NOON + MINUTE - 1;
      await authenticate(key);
      time.now = NOON + MINUTE;
      // A use is not recorded while an earlier one is being recorded, which takes as long as the disk does.
      const useAgain = async () => {
        await authenticate(key);
        return lastUse();
      };
      await expect.poll(useAgain, { timeout: 15_000 }).toBe(NOON + MINUTE);
    });
  });
}

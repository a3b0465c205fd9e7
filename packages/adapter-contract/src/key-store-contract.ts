import { describe, expect, test } from 'vitest';
import { type OpenStorage, storageForTest } from './open-storage.ts';
import { apiKey } from './samples.ts';

/** What any store of API keys must do. */
export function keyStoreContract(open: OpenStorage): void {
  const keyStore = async () => (await storageForTest(open)).keys;

  describe('API keys', () => {
    test('a record is found by its digest exactly as it was given', async () => {
      const keys = await keyStore();
      const records = [
        apiKey(),
        apiKey({ holder: 'the “other” zoo', expiresAt: 1_900_000_000_123 }),
        // The longest name, and the last moment, that a key can be issued for.
        apiKey({ holder: `z${' '.repeat(98)}z`, expiresAt: Date.UTC(275_760, 0) - 1 }),
        apiKey({ createdAt: 0, revokedAt: 1, lastUsedAt: 2 }),
      ];
      for (const record of records) await keys.add(record);
      for (const record of records) expect(await keys.find(record.digest)).toStrictEqual(record);
    });

    test('an unknown digest finds nothing, one that was unknown a moment ago is found once it is added', async () => {
      const keys = await keyStore();
      const record = apiKey();
      expect(await keys.find(record.digest)).toBeNull();
      await keys.add(record);
      expect(await keys.find(record.digest)).toEqual(record);
      expect(await keys.find(record.digest.replace(/.$/, '0'))).toBeNull();
    });

    test('a second record with the same digest changes nothing', async () => {
      const keys = await keyStore();
      const record = apiKey();
      await keys.add(record);
      await keys.add({ ...record, holder: 'someone else', createdAt: record.createdAt + 1 });
      expect(await keys.list()).toEqual([record]);
      expect(await keys.find(record.digest)).toEqual(record);
    });

    test('all records are listed, the oldest first', async () => {
      const keys = await keyStore();
      expect(await keys.list()).toEqual([]);
      const [third, first, second] = [3, 1, 2].map((createdAt) => apiKey({ createdAt }));
      for (const record of [third, first, second]) await keys.add(record as NonNullable<typeof record>);
      expect(await keys.list()).toEqual([first, second, third]);
    });

    test('a revocation is seen at once and keeps its first moment', async () => {
      const keys = await keyStore();
      const [revoked, other] = [apiKey(), apiKey()];
      await keys.add(revoked);
      await keys.add(other);
      expect(await keys.find(revoked.digest)).toEqual(revoked);
      expect(await keys.revoke(revoked.id, 10)).toEqual({ ...revoked, revokedAt: 10 });
      expect(await keys.find(revoked.digest)).toEqual({ ...revoked, revokedAt: 10 });
      expect(await keys.revoke(revoked.id, 20)).toEqual({ ...revoked, revokedAt: 10 });
      expect(await keys.list()).toContainEqual({ ...revoked, revokedAt: 10 });
      expect(await keys.find(other.digest)).toEqual(other);
    });

    test('revoking an unknown key answers null and makes none', async () => {
      const keys = await keyStore();
      expect(await keys.revoke('0123456789abcdef', 10)).toBeNull();
      expect(await keys.list()).toEqual([]);
    });

    test('the last use only moves forward, and that of an unknown key is ignored', async () => {
      const keys = await keyStore();
      const record = apiKey();
      await keys.add(record);
      await keys.recordUse(record.id, 1_000);
      expect(await keys.find(record.digest)).toEqual({ ...record, lastUsedAt: 1_000 });
      await keys.recordUse(record.id, 500);
      expect(await keys.find(record.digest)).toEqual({ ...record, lastUsedAt: 1_000 });
      await keys.recordUse(record.id, 2_000);
      expect(await keys.list()).toEqual([{ ...record, lastUsedAt: 2_000 }]);
      await keys.recordUse('0123456789abcdef', 1_000);
      expect(await keys.list()).toHaveLength(1);
    });

    test('a record does not change with the objects that were passed in or out', async () => {
      const keys = await keyStore();
      const given = apiKey();
      const original = { ...given };
      await keys.add(given);
      for (const object of [given, await keys.find(original.digest), ...(await keys.list())]) {
        Reflect.set(object as object, 'holder', 'someone else');
      }
      expect(await keys.find(original.digest)).toEqual(original);
    });
  });
}

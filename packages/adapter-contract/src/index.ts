import { describe, expect, test } from 'vitest';
import { authenticationContract } from './authentication-contract.ts';
import { catalogueContract } from './catalogue-contract.ts';
import { keyStoreContract } from './key-store-contract.ts';
import { type OpenStorage, storageForTest } from './open-storage.ts';
import { petStoreContract } from './pet-store-contract.ts';

export type { OpenStorage } from './open-storage.ts';
export { rateLimiterContract } from './rate-limiter-contract.ts';

/**
 * Declares every test that an adapter for persistence must pass. All of them hold for every adapter: there is nothing to
 * opt out of.
 *
 * @param adapter The adapter's name, for the report.
 * @param open Opens a new, empty storage. Called once or more for each test; the test closes what it opened.
 * @example storageContract('memory', createMemoryStorage)
 */
export function storageContract(adapter: string, open: OpenStorage): void {
  describe(`${adapter} keeps the contract of a storage`, () => {
    petStoreContract(open);
    keyStoreContract(open);
    catalogueContract(open);
    authenticationContract(open);

    test('a storage in order is ready', async () => {
      const storage = await storageForTest(open);
      await expect(Promise.resolve(storage.ready())).resolves.toBeUndefined();
    });

    test('closing twice is the same as closing once', async () => {
      const storage = await open();
      await storage.ready();
      await storage.close();
      await expect(Promise.resolve(storage.close())).resolves.toBeUndefined();
    });

    test('two storages that were opened apart share nothing', async () => {
      const [one, other] = [await storageForTest(open), await storageForTest(open)];
      await one.pets.add({ name: 'Rex', categoryId: 1n });
      expect(await other.pets.list({ after: 0n, limit: 1 })).toEqual([]);
    });
  });
}

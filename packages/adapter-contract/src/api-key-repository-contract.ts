import { inspect } from 'node:util';
import { type ApiKey, DomainError } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { apiKey, everyKey, FARTHEST_TIME, inOrderOfKeyIds } from './samples.ts';
import type { StorageTest } from './storage-under-test.ts';

/** Records of API keys. */
export function apiKeyRepositoryContract(test: StorageTest): void {
  test('finds a record by its digest exactly as it was given, as soon as it is added', async ({ keys }) => {
    for (const record of [
      apiKey(),
      apiKey({ holder: 'the “other” zoo', expiresAt: 1_900_000_000_123 }),
      // The longest name, and the last time, that a key can be issued for.
      apiKey({ holder: `z${' '.repeat(98)}z`, expiresAt: Date.UTC(275_760, 0) - 1 }),
      apiKey({ createdAt: 0, revokedAt: 1, lastUsedAt: 2 }),
      apiKey({ expiresAt: 0, revokedAt: 0, lastUsedAt: 0 }),
      apiKey({
        createdAt: -FARTHEST_TIME,
        expiresAt: FARTHEST_TIME,
        revokedAt: FARTHEST_TIME,
        lastUsedAt: -FARTHEST_TIME,
      }),
    ]) {
      expect(await keys.find(record.digest)).toBeNull();
      await keys.add(record);
      expect(await keys.find(record.digest)).toStrictEqual(record);
      // The id is the same: it is made of the first 16 digits.
      expect(await keys.find(record.id.padEnd(64, '0'))).toBeNull();
    }
  });

  test('lists each of 1,100 records once, in order of id over all pages of any size', async ({ keys }) => {
    expect(await everyKey(keys)).toEqual([]);
    // Engines cut what they return at 1,000 or 1,024.
    const records = Array.from({ length: 1_100 }, (_, index) => apiKey({ createdAt: (index * 7) % 3 }));
    const stored: ApiKey[] = [];
    const addUntil = async (count: number) => {
      // On a busy machine all at once could take longer than a call may.
      while (stored.length < count) {
        const next = records.slice(stored.length, stored.length + 20);
        await Promise.all(next.map((record) => keys.add(record)));
        stored.push(...next);
      }
      return inOrderOfKeyIds(stored);
    };
    const few = await addUntil(240);
    for (const limit of [101, 20, 1]) expect(await everyKey(keys, limit), `pages of ${limit}`).toEqual(few);
    const sorted = await addUntil(records.length);
    expect(await everyKey(keys)).toEqual(sorted);
    const [before, between] = [sorted[99] as ApiKey, apiKey()];
    await keys.add(between);
    expect(await keys.list({ after: before.id, limit: 3 })).toEqual(
      inOrderOfKeyIds([...sorted, between].filter(({ id }) => id > before.id)).slice(0, 3),
    );
  });

  test('throws the error of a defect unchanged, for each method of API keys, and works afterwards', async ({
    keys,
  }) => {
    const record = apiKey();
    await keys.add(record);
    for (const call of [() => keys.add(undefined as never), () => keys.list(undefined as never)]) {
      await expect((async () => call())()).rejects.toBeInstanceOf(TypeError);
    }
    for (const wrong of [undefined, {}, 'x'] as never[]) {
      const calls = {
        add: () => keys.add({ ...apiKey(), createdAt: wrong }),
        find: () => keys.find(wrong),
        list: () => keys.list({ after: wrong, limit: 20 }),
        'list with this limit': () => keys.list({ after: '', limit: wrong }),
        revoke: () => keys.revoke(record.id, wrong),
        recordUse: () => keys.recordUse(record.id, wrong),
      } satisfies Record<keyof ApiKeyRepository, () => unknown> & Record<string, () => unknown>;
      // An adapter may have no constraints.
      for (const [name, call] of Object.entries(calls)) {
        const error = await (async () => call())().catch((thrown) => thrown);
        expect(DomainError.is(error), `${name} with ${inspect(wrong)}: ${error}`).toBe(false);
      }
    }
    const long = apiKey({ holder: 'z'.repeat(10_000) });
    const error = await keys.add(long).catch((thrown) => thrown);
    expect(DomainError.is(error), `a holder of 10,000 characters: ${error}`).toBe(false);
    expect(await keys.find(long.digest)).toEqual(error ? null : long);
    expect(await keys.find(record.digest)).toMatchObject({ id: record.id });
  });
}

import { ALL_PETS } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { expectBothKept } from './api-key-repository-contract.ts';
import { atOnce, patiently } from './calls.ts';
import { RECOVERY_LIMIT } from './limits.ts';
import { createInAnotherProcess, type OtherProcess, openInAnotherProcess } from './other-process.ts';
import { added, apiKey, everyPage, idempotencyOf, rex } from './samples.ts';
import { type ExportedFunction, opened, type StorageUnderTest, testOf } from './storage-under-test.ts';

/** Two processes at one place: the state of a module is that of one process. */
export function twoProcessesContract<Place>(
  adapter: StorageUnderTest<Place>,
  inAnotherProcess: (place: Place) => ExportedFunction,
): void {
  const test = testOf(adapter).extend<{ there: OtherProcess }>({
    there: async ({ place, storage }, use) => {
      await storage.ready();
      const there = await openInAnotherProcess(inAnotherProcess(place));
      // While the other connects, this process could end all its calls.
      await patiently(() => there.pets.find(1n));
      await use(there);
    },
  });

  test('create one pet for each of 50 idempotency keys that both are given at once', async ({ pets, there }) => {
    let created = 0;
    const first = new Set<boolean | undefined>();
    // Until each of them has come first: one may be slower.
    for (let round = 0; round < 20 && first.size < 2; round += 1) {
      const pairs = await atOnce(50, (index) => {
        const idempotency = idempotencyOf(rex(), `k${round}-${index}`);
        return Promise.all([pets, there.pets].map((each) => each.add(rex(), idempotency)));
      });
      for (const [here, elsewhere] of pairs) {
        expect(here?.pet).toStrictEqual(elsewhere?.pet);
        expect([here?.created, elsewhere?.created].sort()).toEqual([false, true]);
        first.add(here?.created);
      }
      created += pairs.length;
    }
    expect(await everyPage(pets)).toHaveLength(created);
  });

  test('keep each use of an API key in one, and each revocation in the other', async ({ keys, there }) => {
    // The other process may be slow: its calls are tested there, and the two storages of this process without repetition.
    await expectBothKept(keys, there.keys, patiently);
  });

  test('assign no id twice, and each of them ascending ids', async ({ pets, there }) => {
    const created = await Promise.all(
      [pets, there.pets].map(async (each) => {
        const ids: bigint[] = [];
        for (let count = 0; count < 40; count += 1) ids.push((await added(each)).id);
        return ids;
      }),
    );
    for (const ids of created) expect(ids).toEqual(ids.toSorted((a, b) => Number(a - b)));
    expect(new Set(created.flat()).size).toBe(80);
  });

  test('keep nothing of calls that have ended', async ({ there: { pets, keys, memory } }) => {
    const call = async (index: number) => {
      const record = apiKey();
      await keys.add(record);
      await keys.find(record.digest);
      const { id } = await added(pets, rex(), idempotencyOf(rex(), `k${index}`));
      await pets.find(id);
      await pets.list({ ...ALL_PETS, after: 0n, limit: 1 });
    };
    for (let round = 0; round < 10; round += 1) await atOnce(10, (index) => call(10 * round + index));
    // A driver may keep those of the last calls.
    for (let index = 0; index < 5; index += 1) await call(index);
    // One garbage collection may leave some.
    const message = 'kept of 840 arguments and results';
    await expect.poll(() => memory.kept(), { timeout: RECOVERY_LIMIT, message }).toBeLessThan(50);
  });

  test('one of which creates the first pet of a new place, and closes during calls, ends with code 0 and its result', async ({
    place,
  }) => {
    expect(await createInAnotherProcess(inAnotherProcess(place), 'Rex')).toBe('Rex');
    const { pets } = await opened(adapter, place);
    expect(await everyPage(pets)).toMatchObject([rex()]);
  });
}

// Another process: it ends with code 0 and its result, also while something is away, and keeps no memory of what has ended.

import type { ApiKey } from '@animal-store/domain';
import { ALL_PETS } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { atOnce, patient } from './calls.ts';
import { CALL_LIMIT, RECOVERY_LIMIT, TRIES } from './limits.ts';
import { type OtherProcess, openInAnotherProcess, runInAnotherProcess } from './other-process.ts';
import { added, apiKey, everyKey, everyPage, expectSame, idempotencyOf, inOrderOfIds, rex } from './samples.ts';
import { type ExportedFunction, portsAt, type StorageUnderTest, testOf } from './storage-under-test.ts';

export function anotherProcessContract<Place>(adapter: StorageUnderTest<Place>): void {
  const inAnotherProcess = (place: Place) => adapter.inAnotherProcess?.(place) as ExportedFunction;
  const test = testOf(adapter).extend<{ there: OtherProcess }>({
    there: async ({ place, pets: here }, use) => {
      const there = await openInAnotherProcess(inAnotherProcess(place));
      const ports = patient(there);
      // While the other connects, this process could end all its calls.
      for (const each of [here, ports.pets]) await each.find(1n);
      await use({ ...there, ...ports });
    },
  });

  test('creates one pet for each of 50 idempotency keys that two processes are given at once', async ({
    pets,
    there,
  }) => {
    // In one round one of them may always come first.
    for (let round = 0; round < 4; round += 1) {
      await atOnce(50, async (index) => {
        const idempotency = idempotencyOf(rex(), `k${round}-${index}`);
        const begin = performance.now();
        const [here, elsewhere] = await Promise.all([pets, there.pets].map((each) => each.add(rex(), idempotency)));
        expectSame(here?.pet, elsewhere?.pet);
        // A slow creation may be a repeated one: the first may have stored the pet.
        const isSlow = performance.now() - begin > CALL_LIMIT / 2;
        const created = [here?.created, elsewhere?.created].sort();
        expect(created).toEqual([false, isSlow ? expect.any(Boolean) : true]);
      });
    }
    expect(await everyPage(pets)).toHaveLength(200);
  });

  test('keeps each use of an API key by one process, and each revocation by another', async ({ keys, there }) => {
    const changed: ApiKey[] = [];
    // The first calls of a process take so long that the others meet none of them.
    for (let round = 0; round < 4; round += 1) {
      const [user, revoker] = round % 2 === 0 ? [keys, there.keys] : [there.keys, keys];
      const records = Array.from({ length: 30 }, () => apiKey());
      await Promise.all(records.map((record) => keys.add(record)));
      // One is unknown.
      const ids = [apiKey().id, ...records.map(({ id }) => id)];
      await Promise.all(ids.map((id) => user.recordUse(id, 6)));
      const changes = ids.map((id, index) => {
        const calls = [() => atOnce(4, () => user.recordUse(id, 7)), () => revoker.revoke(id, 5)];
        return Promise.all((index % 2 === 0 ? calls : calls.reverse()).map((call) => call()));
      });
      await Promise.all(changes);
      changed.push(...records.map((record) => ({ ...record, revokedAt: 5, lastUsedAt: 7 })));
      for (const each of [keys, there.keys]) expectSame(await everyKey(each), inOrderOfIds(changed));
    }
  });

  test('keeps nothing of calls that have ended', async ({ there: { pets, keys, memory } }) => {
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

  test('ends another process with code 0 and its result if it closes during calls, after the first pet of a new place', async () => {
    async function created(left = TRIES): Promise<readonly [place: Place, end: unknown]> {
      const place = await adapter.freshPlace();
      const end = await runInAnotherProcess(inAnotherProcess(place), 'create');
      // A slow creation may be unavailable, and stored.
      return end === 'storage_unavailable' && left > 0 ? created(left - 1) : [place, end];
    }
    const [place, end] = await created();
    expect(end).toBe('Rex');
    const { pets } = await portsAt(adapter, place);
    expect(await everyPage(pets)).toMatchObject([rex()]);
  });
}

import type { PetStorage } from '@animal-store/domain/ports';
import { databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { expect, test } from 'vitest';
import { addTo, idempotent, openStorage, rex, times } from './fixtures.ts';

/** Storages with connections and caches of their own on one database, as processes have them. */
function processes(count: number, url = freshDatabase()): [PetStorage, PetStorage, ...PetStorage[]] {
  return times(count, () => openStorage({ url })) as [PetStorage, PetStorage, ...PetStorage[]];
}

describeWithMongo('several processes on one database', () => {
  test('prepare the same new database at once', async () => {
    const url = freshDatabase();
    await Promise.all(processes(6, url).map((storage) => addTo(storage.pets, rex)));
    const indexes = await databaseAt(url).collection('pets').indexes();
    expect(indexes.map(({ name }) => name).sort()).toEqual([
      '_id_',
      'idempotency.holder_1_idempotency.key_1',
      'status_1__id_1',
    ]);
    expect(await databaseAt(url).collection('pets').countDocuments()).toBe(6);
  });

  test('create each pet once if all processes are asked for all of them at once', async () => {
    const storages = processes(3);
    const keys = Array.from({ length: 80 }, (_, index) => `k${index}`);
    const created = await Promise.all(
      storages.map(({ pets }) => Promise.all(keys.map((key) => addTo(pets, rex, idempotent(key))))),
    );
    expect(created[1]).toEqual(created[0]);
    expect(created[2]).toEqual(created[0]);
    expect(new Set(created[0]?.map((pet) => pet?.id)).size).toBe(80);
    expect(await storages[1].pets.list({ after: 0n, limit: 100 })).toHaveLength(80);
  });

  test('discard a block of ids, which may lag behind, when it is a second old', async () => {
    const url = freshDatabase();
    let now = 0;
    const slow = openStorage({ url, clock: () => now });
    const [quick] = processes(2, url);
    // Its second block has more ids than are used.
    for (let count = 0; count < 3; count += 1) await addTo(slow.pets, rex);
    const reached = (await addTo(quick.pets, rex))?.id ?? 0n;
    expect((await addTo(slow.pets, rex))?.id).toBeLessThan(reached);
    now = 1_000;
    expect((await addTo(slow.pets, rex))?.id).toBeGreaterThan(reached);
  });

  test('create every pet though the counter is behind the pets, as after a restore', async () => {
    const url = freshDatabase();
    const [one, other] = processes(2, url);
    await one.ready();
    const restored = Array.from({ length: 5_000 }, (_, index) => ({
      _id: BigInt(index + 1),
      name: 'Max',
      categoryId: 1n,
    }));
    await databaseAt(url).collection<{ _id: bigint }>('pets').insertMany(restored);
    const added = await Promise.all(
      Array.from({ length: 2_000 }, (_, index) => addTo((index % 2 === 0 ? one : other).pets, rex)),
    );
    expect(new Set(added.map((pet) => pet?.id)).size).toBe(2_000);
    expect(await other.pets.list({ after: 5_000n, limit: 3_000 })).toHaveLength(2_000);
  });
});

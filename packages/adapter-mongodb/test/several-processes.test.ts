import type { PetStorage } from '@animal-store/domain/ports';
import { databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { expect, test } from 'vitest';
import { addTo, apiKey, idempotent, openStorage, rex, times } from './fixtures.ts';

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

  test('assign no id twice', async () => {
    const storages = processes(3);
    const added = await Promise.all(Array.from({ length: 600 }, (_, index) => addTo(storages[index % 3]?.pets, rex)));
    expect(new Set(added.map((pet) => pet?.id)).size).toBe(600);
    expect(await storages[0].pets.list({ after: 0n, limit: 700 })).toHaveLength(600);
  });

  test('create one pet for an idempotency key, also while the creation is in flight', async () => {
    const storages = processes(3);
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      const calls = Array.from({ length: 12 }, (_, index) => addTo(storages[index % 3]?.pets, rex, idempotent(key)));
      expect(new Set((await Promise.all(calls)).map((pet) => pet?.id)).size).toBe(1);
    }
    expect(await storages[1].pets.list({ after: 0n, limit: 100 })).toHaveLength(5);
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

  test('see at once what another one has created', async () => {
    const [one, other] = processes(2);
    for (let count = 0; count < 50; count += 1) {
      const added = await addTo(one.pets, rex);
      expect(await other.pets.find(added?.id ?? 0n)).toEqual(added);
    }
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

  test('see a revocation by another one within 10 seconds of their clock', async () => {
    const url = freshDatabase();
    let now = 0;
    const [admin] = processes(2, url);
    const server = openStorage({ url, clock: () => now });
    const { id, digest } = apiKey(1);
    await admin.keys.add(apiKey(1));
    expect(await server.keys.find(digest)).toMatchObject({ revokedAt: null });
    await admin.keys.revoke(id, 5);
    now = 10_000;
    expect(await server.keys.find(digest)).toMatchObject({ revokedAt: 5 });
  });

  test('store the latest use of a key that any process has recorded', async () => {
    const [one, other] = processes(2);
    const { id } = apiKey(1);
    await one.keys.add(apiKey(1));
    await one.keys.recordUse(id, 2_000);
    await other.keys.recordUse(id, 1_000);
    expect(await other.keys.list()).toMatchObject([{ lastUsedAt: 2_000 }]);
  });

  test('count the requests of a holder together', async () => {
    const url = freshDatabase();
    const policy = { limit: 30, window: 60_000 };
    const limiters = times(3, () => openStorage({ url }).createRateLimiter(policy));
    const shares = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 20 }, () => limiter.take('the zoo'))),
    );
    const allowed = shares.filter((share) => share.allowed).map(({ remaining }) => remaining);
    expect(allowed.sort((one, other) => other - one)).toEqual(times(30, (index) => 29 - index));
  });
});

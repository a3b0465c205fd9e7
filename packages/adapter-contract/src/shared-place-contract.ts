import { setImmediate as nextTurn } from 'node:timers/promises';
import { PET_STATUSES } from '@animal-store/domain';
import { ALL_PETS, type Storage } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { expectBothKept } from './api-key-repository-contract.ts';
import { atOnce, patiently } from './calls.ts';
import { recovered } from './interruption.ts';
import { added, apiKey, everyPage, idempotencyOf, inOrderOfIds, rex } from './samples.ts';
import { opened, type StorageUnderTest, testOf } from './storage-under-test.ts';

/** Two storages that are open at one place. */
export function sharedPlaceContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter).extend<{ both: [Storage, Storage] }>({
    /** Opened and used for the first time at once. */
    async both({ place }, use) {
      const both = await Promise.all([opened(adapter, place), opened(adapter, place)]);
      await Promise.all(both.map((storage) => storage.ready()));
      await use(both);
    },
  });

  test('show a pet that the other has acknowledged at once', async ({ both: [one, other] }) => {
    for (let count = 0; count < 20; count += 1) {
      const pet = await added(one.pets, rex({ status: 'sold' }));
      const page = { ...ALL_PETS, after: pet.id - 1n, limit: 1 };
      expect(await other.pets.find(pet.id)).toStrictEqual(pet);
      expect(await other.pets.list(page)).toStrictEqual([pet]);
      expect(await other.pets.list({ ...page, status: 'sold' })).toStrictEqual([pet]);
    }
    const statuses = [undefined, ...PET_STATUSES];
    const listAll = () => Promise.all(statuses.map((status) => everyPage(other.pets, { status })));
    // A connection may keep what it has read of an index.
    const [before = []] = await listAll();
    const sold = inOrderOfIds(await atOnce(80, () => added(one.pets, rex({ status: 'sold' }))));
    const all = [...before, ...sold, await added(one.pets, rex({ status: 'pending' }))];
    const matching = statuses.map((status) => all.filter((pet) => status === undefined || pet.status === status));
    expect(await listAll()).toStrictEqual(matching);
  });

  test('assign no id twice, and each of them ascending ids', async ({ place, both }) => {
    const ascending = (ids: readonly bigint[]) => ids.toSorted((a, b) => Number(a - b));
    const createMany = async ({ pets }: Storage) => {
      const ids: bigint[] = [];
      for (let count = 0; count < 80; count += 1) ids.push((await added(pets)).id);
      expect(ids).toEqual(ascending(ids));
      return ids;
    };
    const ids = (await Promise.all(both.map(createMany))).flat();
    expect(new Set(ids).size).toBe(ids.length);
    expect((await everyPage(both[0].pets)).map(({ id }) => id)).toEqual(ascending(ids));
    const highest = ascending(ids).at(-1) as bigint;
    for (const { archive } of both) if (archive) expect(await archive.lastId()).toBeGreaterThanOrEqual(highest);
    // The other has read the counter before.
    for (const { pets } of [...both, ...both]) {
      for (let count = 0; count < 3; count += 1) {
        const { id } = await added(pets);
        expect(ids, 'the id of a pet that was deleted').not.toContain(id);
        ids.push(id);
      }
      for (const id of ids.slice(-3)) await adapter.deletePet?.(place, id);
    }
  });

  test('create one pet for an idempotency key that both are given at once, and never hide it again', async ({
    both,
  }) => {
    const [{ pets }, other] = both;
    const seen = new Set<bigint>();
    for (let count = 0; count < 10; count += 1) {
      let isCalling = true;
      const create = (index: number) =>
        added(index % 2 === 0 ? pets : other.pets, rex(), idempotencyOf(rex(), `k${count}`));
      const created = atOnce(30, create).finally(() => {
        isCalling = false;
      });
      while (isCalling) {
        for (const { id } of await other.pets.list({ ...ALL_PETS, after: 0n, limit: 100 })) seen.add(id);
        // A storage that returns values would leave the calls no turn.
        await nextTurn();
      }
      const [first, ...others] = await created;
      for (const pet of others) expect(pet).toStrictEqual(first);
    }
    const stored = (await everyPage(pets)).map(({ id }) => id);
    expect(stored).toHaveLength(10);
    for (const id of seen) expect(stored).toContain(id);
  });

  test('show an API key that the other has added or revoked at once, beside creations', async ({ both }) => {
    const [one, other] = both;
    let isOver = false;
    const createMany = async (index: number) => {
      for (; !isOver; await nextTurn()) await patiently(() => added((both[index % 2] as Storage).pets));
    };
    // A replica lags if it has much to do.
    const creations = atOnce(30, createMany);
    try {
      for (let round = 0; round < 30; round += 1) {
        const record = apiKey();
        const find = () => patiently(() => other.keys.find(record.digest));
        expect(await find()).toBeNull();
        await patiently(() => one.keys.add(record));
        expect(await find()).toStrictEqual(record);
        await patiently(() => one.keys.revoke(record.id, 5));
        expect(await find()).toStrictEqual({ ...record, revokedAt: 5 });
      }
    } finally {
      isOver = true;
      await creations;
    }
  });

  test('keep each use of an API key by one, and each revocation by the other', async ({ both: [one, other] }) => {
    await expectBothKept(one.keys, other.keys);
  });

  test('keep a revocation by one of eight that all record uses, and the last use', async ({ place, both }) => {
    const others = await atOnce(6, () => opened(adapter, place));
    await Promise.all(others.map((storage) => recovered(storage)));
    for (let round = 0; round < 10; round += 1) {
      const record = apiKey();
      await both[0].keys.add(record);
      const uses = [...both, ...others].map(async ({ keys }, index) => {
        for (let at = 1; at <= 10; at += 1) await patiently(() => keys.recordUse(record.id, 100 * index + at));
      });
      const revoked = await patiently(() => both[1].keys.revoke(record.id, 5));
      await Promise.all(uses);
      const found = await both[0].keys.find(record.digest);
      expect(found).toMatchObject({ ...record, revokedAt: 5, lastUsedAt: expect.any(Number) });
      expect((found?.lastUsedAt ?? 0) % 100, 'the last of ten uses, by one of eight').toBe(10);
      expect(revoked).toMatchObject({ ...record, revokedAt: 5, lastUsedAt: revoked?.lastUsedAt });
    }
  });
}

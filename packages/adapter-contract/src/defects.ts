// Defects: a wrong argument is an error of its own, and no call beside it fails.

import { inspect } from 'node:util';
import { DomainError, LIMITS, type NewPet } from '@animal-store/domain';
import { ALL_PETS, type ApiKeyRepository } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { atOnce, failureOf } from './calls.ts';
import { added, apiKey, CREATED_AT, everyPage, idempotencyOf, rex } from './samples.ts';
import { archiveTestOf, opened, type StorageTest, type StorageUnderTest } from './storage-under-test.ts';

export function defectsContract(test: StorageTest): void {
  test('throws the error of a defect unchanged, and not as an outage', async ({ pets }) => {
    for (const call of [() => pets.add(undefined as never), () => pets.list(undefined as never)]) {
      await expect((async () => call())()).rejects.toBeInstanceOf(TypeError);
    }
    // An adapter may find nothing, and have no constraints.
    for (const id of [undefined as never, 2n ** 64n]) {
      const error = await (async () => pets.find(id))().catch((thrown) => thrown);
      expect(DomainError.is(error), `find(${id}): ${error}`).toBe(false);
    }
    for (const limit of ['x', {}, -1] as never[]) {
      const error = await (async () => pets.list({ ...ALL_PETS, after: 0n, limit }))().catch((thrown) => thrown);
      expect(DomainError.is(error), `limit ${inspect(limit)}: ${error}`).toBe(false);
    }
    const wrongMembers = [{ status: 'lost' }, { name: null }, { categoryId: 'x' }];
    const beyond = [{ name: 'x'.repeat(201) }, { name: '🐕'.repeat(10_000) }, { categoryId: 2n ** 63n }];
    for (const wrong of [...wrongMembers, ...beyond]) {
      const newPet = { ...rex(), ...wrong } as NewPet;
      const end = await (async () => pets.add(newPet))().catch((thrown) => thrown);
      expect(DomainError.is(end), inspect(wrong)).toBe(false);
      // An adapter may store it, but not change it.
      const pet = end instanceof Error ? null : { id: end.pet.id, ...newPet };
      if (pet) expect(await pets.find(pet.id), inspect(wrong)).toStrictEqual(pet);
    }
    const holders = ['z'.repeat(100), `${'z'.repeat(9_999)}a`, `${'z'.repeat(9_999)}b`];
    for (const holder of holders) {
      const end = await pets.add(rex(), idempotencyOf(rex(), { holder, key: 'k' })).catch((thrown) => thrown);
      expect(end, `a holder of ${holder.length} characters`).toSatisfy((end) => end instanceof Error || end.created);
      expect(DomainError.is(end), `a holder of ${holder.length} characters: ${end}`).toBe(false);
    }
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

  test('does not fail calls at the same time because of a defect of one of them', async ({ pets }) => {
    const wrong = { ...rex(), name: null } as unknown as NewPet;
    const calls = Array.from({ length: 20 }, async (_, index) => pets.add(index % 5 === 2 ? wrong : rex()));
    const ends = await Promise.allSettled(calls);
    for (const [index, end] of ends.entries())
      if (index % 5 !== 2) expect(end, `call ${index}`).toMatchObject({ status: 'fulfilled' });
  });
}

/** No id is left. */
export function archiveDefectsContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = archiveTestOf(adapter);

  test('assigns no id after the last one, 2^53 - 1, and repeats none', async ({ place, storage, pets, archive }) => {
    const pet = await added(pets);
    const last = { id: LIMITS.id.maxAssigned, ...rex({ name: 'Max' }) };
    await archive.restore([{ ...last, createdAt: CREATED_AT }]);
    for (const { pets } of [storage, await opened(adapter, place)]) {
      for (const idempotency of [undefined, idempotencyOf(rex(), 'k1')]) {
        const add = failureOf(() => pets.add(rex(), idempotency));
        const found = atOnce(10, () => pets.find(pet.id));
        const failure = await add;
        for (const each of await found) expect(each, 'found beside a defect').toStrictEqual(pet);
        expect(failure, 'the error of a creation').toBeInstanceOf(Error);
        expect(failure, 'the error of a creation').not.toSatisfy(DomainError.is);
      }
    }
    expect(await everyPage(pets)).toStrictEqual([pet, last]);
    expect(await archive.lastId()).toBe(last.id);
  });
}

import type { Pet } from '@animal-store/domain';
import { databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { describe, expect, test } from 'vitest';
import type { PetDocument } from '../src/pets/pet-document.ts';
import { addTo, apiKey, idempotent, max, openStorage, profiled, rex, times } from './fixtures.ts';

async function open() {
  const url = freshDatabase();
  const storage = openStorage({ url });
  await storage.ready();
  return { ...storage, url };
}

const byId = (one: Pet, another: Pet) => Number(one.id - another.id);

/** How many lines the import has. */
const LINES = 20_000;

describeWithMongo('many calls at once', () => {
  test('prepare the same new database in eight storages', async () => {
    const url = freshDatabase();
    const created = await Promise.all(times(8, () => addTo(openStorage({ url }).pets, rex)));
    expect(await openStorage({ url }).pets.list({ after: 0n, limit: 100 })).toEqual((created as Pet[]).sort(byId));
    const indexes = await databaseAt(url).collection('pets').indexes();
    expect(indexes.map(({ name }) => name).sort()).toEqual([
      '_id_',
      'idempotency.holder_1_idempotency.key_1',
      'status_1__id_1',
    ]);
  });

  describe('creations', () => {
    test('take ids in the order of the calls, as an import makes them', async () => {
      const { pets } = await open();
      const ids: (bigint | undefined)[] = [];
      let next = 0;
      const line = async () => {
        for (let index = next++; index < LINES; index = next++) ids[index] = (await addTo(pets, max))?.id;
      };
      await Promise.all(times(1_000, line));
      expect(ids).toHaveLength(LINES);
      expect(ids.filter((id, index) => index > 0 && Number(id) <= Number(ids[index - 1]))).toEqual([]);
    });

    test('store all pets but the one that the server rejects, whose error is no outage', async () => {
      const { pets, url } = await open();
      const validator = { $jsonSchema: { title: 'format 1', properties: { name: { pattern: '^Rex' } } } };
      await databaseAt(url).command({ collMod: 'pets', validator });
      const calls = await Promise.allSettled(times(40, (index) => addTo(pets, index === 30 ? max : rex)));
      expect(calls[30]).toMatchObject({ reason: { name: 'MongoServerError', code: 121 } });
      const acknowledged = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value as Pet] : []));
      expect(acknowledged).toHaveLength(39);
      expect(await pets.list({ after: 0n, limit: 100 })).toEqual(acknowledged.sort(byId));
    });

    test('raise the counter together if it is behind the pets, as after a restore', async () => {
      const { pets, url } = await open();
      const other = openStorage({ url });
      await Promise.all(times(100, (index) => addTo(index % 2 === 0 ? pets : other.pets, rex)));
      const restored = times(5_000, (index) => ({ _id: BigInt(index + 201), name: 'Max', categoryId: 1n }));
      await databaseAt(url).collection<PetDocument>('pets').insertMany(restored);
      const work = await profiled(url, async () => {
        const calls = times(400, (index) =>
          addTo(index % 2 === 0 ? pets : other.pets, rex, index % 3 === 0 ? undefined : idempotent(`k${index}`)),
        );
        expect(new Set((await Promise.all(calls)).map((pet) => pet?.id)).size).toBe(400);
      });
      expect(work.filter(({ op, ns }) => op === 'update' && ns.endsWith('.counters')).length).toBeLessThanOrEqual(12);
      expect(await pets.list({ after: 0n, limit: 10_000 })).toHaveLength(5_500);
    });

    test('find the pets of repeated keys by a few queries, each call the pet of its own key', async () => {
      const { pets, url } = await open();
      const create = (index: number, fingerprint: string) =>
        addTo(
          pets,
          { name: `Rex ${index}`, categoryId: 7n },
          { holder: `zoo ${index % 3}`, key: `${Math.floor(index / 3)}`, fingerprint },
        );
      const created = await Promise.all(times(1_500, (index) => create(index, 'first')));
      const work = await profiled(url, async () => {
        const calls = times(1_500, (index) => create(index, index % 10 === 0 ? 'another' : 'first'));
        expect(await Promise.all(calls)).toEqual(created.map((pet, index) => (index % 10 === 0 ? null : pet)));
      });
      const queries = work.filter(({ op }) => op === 'query');
      expect(queries.length).toBeLessThanOrEqual(10);
      for (const { planSummary, docsExamined } of queries) {
        expect(planSummary).toMatch(/^(?:(?:, )?IXSCAN \{ idempotency.holder: 1, idempotency.key: 1 \})+$/);
        expect(docsExamined).toBeLessThanOrEqual(500);
      }
    });
  });

  describe('reads', () => {
    test('find the pet of each call, also of more calls than one read looks up', async () => {
      const { pets } = await open();
      const added = (await Promise.all(times(30, () => addTo(pets, rex)))) as Pet[];
      const known = new Map(added.map((pet) => [pet.id, pet]));
      const ids = times(2_500, (index) => BigInt(index + 1));
      const found = await Promise.all([...ids, ...ids].map((id) => pets.find(id)));
      expect(found).toEqual([...ids, ...ids].map((id) => known.get(id) ?? null));
    });

    test('find keys that exist among many that do not, by a few queries', async () => {
      const { keys, url } = await open();
      const existing = times(10, apiKey);
      for (const key of existing) await keys.add(key);
      const others = times(1_990, (index) => index.toString(16).padStart(64, 'f'));
      const digests = [...existing.map(({ digest }) => digest), ...others].sort();
      const work = await profiled(url, async () => {
        const found = await Promise.all(digests.map((digest) => keys.find(digest)));
        expect(found).toEqual(digests.map((digest) => existing.find((key) => key.digest === digest) ?? null));
      });
      const queries = work.filter(({ op, ns }) => op === 'query' && ns.endsWith('.api_keys'));
      expect(queries.length).toBeLessThanOrEqual(4);
      for (const { planSummary } of queries) expect(planSummary).toMatch(/^(EXPRESS_)?IXSCAN \{ digest: 1 \}/);
    });
  });
});

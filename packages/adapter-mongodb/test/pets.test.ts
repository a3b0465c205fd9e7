import type { Pet } from '@animal-store/domain';
import { databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import type { Db } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { PetDocument } from '../src/pets.ts';
import { prepareCollections } from '../src/schema.ts';
import { addTo, freshStorage, idempotent, isReady, max, openStorage, profiled, rex, times } from './fixtures.ts';

const byId = (one: Pet, another: Pet) => Number(one.id - another.id);

/** Stores pets without the counter, as a restore does. */
async function restore(db: Db, count: number, first: number): Promise<void> {
  const documents = times(count, (index) => ({
    _id: BigInt(first + index),
    name: 'Max',
    categoryId: 1n,
    createdAt: new Date(),
  }));
  await db.collection<PetDocument>('pets').insertMany(documents);
}

describeWithMongo('many calls at once', () => {
  test('prepare the same new database', async () => {
    const db = databaseAt(freshDatabase());
    await Promise.all(times(8, () => prepareCollections(db)));
    expect(await db.collection('pets').indexes()).toHaveLength(3);
  });

  describe('creations', () => {
    test('store all pets but the one that the server rejects, whose error is no outage', async () => {
      const { archive, pets, db } = await freshStorage();
      const validator = { $jsonSchema: { title: 'format 1', properties: { name: { pattern: '^Rex' } } } };
      await db.command({ collMod: 'pets', validator });
      const calls = await Promise.allSettled(times(40, (index) => addTo(pets, index === 30 ? max : rex)));
      expect(calls[30]).toMatchObject({ reason: { name: 'MongoServerError', code: 121 } });
      const acknowledged = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value as Pet] : []));
      await expect(archive?.restore([{ id: 99n, ...max, createdAt: 0 }])).rejects.toMatchObject({ code: 121 });
      expect(acknowledged).toHaveLength(39);
      expect(await pets.list({ after: 0n, limit: 100 })).toEqual(acknowledged.sort(byId));
    });

    test('raise the counter together if it is behind the pets, as after a restore', async () => {
      const { pets, url, db } = await freshStorage();
      const other = await isReady(openStorage(url));
      await Promise.all(times(100, (index) => addTo(index % 2 === 0 ? pets : other.pets, rex)));
      await restore(db, 5_000, 201);
      const work = await profiled(url, async () => {
        const calls = times(400, (index) =>
          addTo(index % 2 === 0 ? pets : other.pets, rex, index % 3 === 0 ? undefined : idempotent(`k${index}`)),
        );
        expect(new Set((await Promise.all(calls)).map((pet) => pet?.id)).size).toBe(400);
      });
      expect(work.filter(({ op, ns }) => op === 'update' && ns.endsWith('.counters')).length).toBeLessThanOrEqual(12);
      expect(await pets.list({ after: 0n, limit: 10_000 })).toHaveLength(5_500);
    });

    test('raise the counter at once if one of them is a repetition and the id of another is taken', async () => {
      const { pets, url, db } = await freshStorage();
      const earlier = await addTo(pets, rex, idempotent('k1'));
      await restore(db, 100, 2);
      const work = await profiled(url, async () => {
        const [repeated, added] = await Promise.all([addTo(pets, rex, idempotent('k1')), addTo(pets, max)]);
        expect(repeated).toEqual(earlier);
        expect(added?.id).toBeGreaterThan(101n);
      });
      // The rejected one, and the one that has an id above the restored pets.
      expect(work.filter(({ op }) => op === 'insert')).toHaveLength(2);
    });

    test('find the pets of repeated keys by a few queries, each call the pet of its own key', async () => {
      const { pets, url } = await freshStorage();
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

    test('tell the keys of holders apart whose characters are the same together', async () => {
      const { pets } = await freshStorage();
      const names = [
        { holder: 'bc', key: 'a' },
        { holder: 'c', key: 'ab' },
      ];
      const create = () => Promise.all(names.map((name) => addTo(pets, rex, { ...idempotent(name.key), ...name })));
      const created = await create();
      expect(created[0]?.id).not.toBe(created[1]?.id);
      expect(await create()).toEqual(created);
    });
  });
});

import { added, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { describeWithMongo } from '@animal-store/test-servers/mongodb';
import type { Db } from 'mongodb';
import { expect, test } from 'vitest';
import type { PetDocument } from '../src/documents.ts';
import { freshStorage, isReady, openStorage, profiled, times } from './fixtures.ts';

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

describeWithMongo('many creations at once', () => {
  test('raise the counter together if it is behind the pets, as after a restore', async () => {
    const { pets, url, db } = await freshStorage();
    const other = await isReady(openStorage(url));
    await Promise.all(times(100, (index) => added(index % 2 === 0 ? pets : other.pets)));
    await restore(db, 5_000, 201);
    const work = await profiled(url, async () => {
      const keyOf = (index: number) => (index % 3 === 0 ? undefined : idempotencyOf(rex(), `k${index}`));
      const calls = times(400, (index) => added(index % 2 === 0 ? pets : other.pets, rex(), keyOf(index)));
      expect(new Set((await Promise.all(calls)).map(({ id }) => id)).size).toBe(400);
    });
    expect(work.filter(({ op, ns }) => op === 'update' && ns.endsWith('.counters')).length).toBeLessThanOrEqual(12);
    expect(await pets.list({ after: 0n, limit: 10_000 })).toHaveLength(5_500);
  });

  test('raise the counter at once if one of them is a repetition and the id of another is taken', async () => {
    const { pets, url, db } = await freshStorage();
    const key = idempotencyOf(rex(), 'k1');
    const earlier = await added(pets, rex(), key);
    await restore(db, 100, 2);
    const work = await profiled(url, async () => {
      const [repeated, another] = await Promise.all([added(pets, rex(), key), added(pets)]);
      expect(repeated).toEqual(earlier);
      expect(another.id).toBeGreaterThan(101n);
    });
    // The rejected one, and the one that has an id above the restored pets.
    expect(work.filter(({ op }) => op === 'insert')).toHaveLength(2);
  });

  test('find the pets of repeated keys by a few queries, each call the pet of its own key', async () => {
    const { pets, url } = await freshStorage();
    const create = (index: number, fingerprint: string) =>
      pets.add(
        { name: `Rex ${index}`, categoryId: 7n },
        { holder: `zoo ${index % 3}`, key: `${Math.floor(index / 3)}`, fingerprint },
      );
    const created = await Promise.all(times(1_500, (index) => create(index, 'first')));
    const work = await profiled(url, async () => {
      const calls = times(1_500, (index) => create(index, index % 10 === 0 ? 'another' : 'first'));
      expect(await Promise.all(calls)).toEqual(
        created.map((creation, index) => (index % 10 === 0 ? null : { pet: creation?.pet, created: false })),
      );
    });
    const queries = work.filter(({ op }) => op === 'query');
    expect(queries.length).toBeLessThanOrEqual(10);
    for (const { planSummary, docsExamined } of queries) {
      expect(planSummary).toMatch(/^(?:(?:, )?IXSCAN \{ idempotency.holder: 1, idempotency.key: 1 \})+$/);
      expect(docsExamined).toBeLessThanOrEqual(500);
    }
  });
});

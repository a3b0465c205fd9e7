import type { Pet } from '@animal-store/domain';
import { databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { describe, expect, test } from 'vitest';
import type { PetDocument } from '../src/pets/pet-document.ts';
import { addTo, apiKey, idempotent, max, openStorage, rex, times } from './fixtures.ts';

function open() {
  const url = freshDatabase();
  const storage = openStorage({ url });
  return { storage, pets: storage.pets, url };
}

/** How often the other writer writes. */
const WRITES = 400;

/** How many lines the import has. */
const LINES = 20_000;

describeWithMongo('many calls at once', () => {
  describe('creations', () => {
    test('return the results of their own idempotency keys: known, reused for another pet, or given twice', async () => {
      const { pets, url } = open();
      const known = await Promise.all(times(10, (index) => addTo(pets, rex, idempotent(`known-${index}`))));
      const [fresh, again, other, twice] = await Promise.all([
        Promise.all(times(60, (index) => addTo(pets, max, idempotent(`fresh-${index}`, max)))),
        Promise.all(times(10, (index) => addTo(pets, rex, idempotent(`known-${index}`)))),
        Promise.all(times(10, (index) => addTo(pets, max, idempotent(`known-${index}`, max)))),
        Promise.all(times(20, (index) => addTo(pets, rex, idempotent(`twice-${index % 10}`)))),
      ]);
      expect(again).toEqual(known);
      expect(other).toEqual(Array(10).fill(null));
      expect(twice.slice(10)).toEqual(twice.slice(0, 10));
      const ids = [...known, ...fresh, ...twice].map((pet) => (pet as Pet).id);
      expect(new Set(ids).size).toBe(80);
      expect(await databaseAt(url).collection('pets').countDocuments()).toBe(80);
    });

    test('take ids in the order of the calls, as an import makes them', async () => {
      const { pets } = open();
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
      const { storage, pets, url } = open();
      await storage.ready();
      const validator = { $jsonSchema: { title: 'format 1', properties: { name: { pattern: '^Rex' } } } };
      await databaseAt(url).command({ collMod: 'pets', validator });
      const calls = await Promise.allSettled(times(40, (index) => addTo(pets, index === 30 ? max : rex)));
      expect(calls.map(({ status }) => status).indexOf('rejected')).toBe(30);
      expect(calls.filter(({ status }) => status === 'rejected')).toMatchObject([
        { reason: { name: 'MongoServerError', code: 121 } },
      ]);
      const stored = await pets.list({ after: 0n, limit: 100 });
      const byId = (one: Pet, another: Pet) => Number(one.id - another.id);
      const acknowledged = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value as Pet] : []));
      expect(stored).toEqual(acknowledged.sort(byId));
    });

    test('get other ids if theirs are taken', async () => {
      const { pets, url } = open();
      const before = await Promise.all(times(100, () => addTo(pets, rex)));
      const last = before.map((pet) => (pet as Pet).id).sort((one, other) => Number(one - other))[99] as bigint;
      const taken = times(20, (index) => ({ _id: last + BigInt(3 * index) + 1n, name: 'Max', categoryId: 1n }));
      await databaseAt(url).collection<PetDocument>('pets').insertMany(taken);
      await databaseAt(url).command({ profile: 2 });
      const calls = times(200, (index) => addTo(pets, rex, index % 2 === 0 ? undefined : idempotent(`k${index}`)));
      expect(new Set((await Promise.all(calls)).map((pet) => pet?.id)).size).toBe(200);
      await databaseAt(url).command({ profile: 0 });
      // The counter is raised for all of them together.
      const raised = { op: 'update', ns: /\.counters$/ };
      expect(await databaseAt(url).collection('system.profile').countDocuments(raised)).toBeLessThanOrEqual(6);
      expect(await pets.list({ after: 0n, limit: 1_000 })).toHaveLength(320);
    });
  });

  describe('reads', () => {
    test('find each its own pet, also more of them than one read looks up', async () => {
      const { pets } = open();
      const added = (await Promise.all(times(30, (index) => addTo(pets, index % 2 === 0 ? rex : max)))) as Pet[];
      const known = new Map(added.map((pet) => [pet.id, pet]));
      const ids = times(2_500, (index) => BigInt(index + 1));
      const found = await Promise.all([...ids, ...ids].map((id) => pets.find(id)));
      expect(found).toEqual([...ids, ...ids].map((id) => known.get(id) ?? null));
    });

    test('list each its own page', async () => {
      const { pets } = open();
      const added = (await Promise.all(times(160, (index) => addTo(pets, index % 2 === 0 ? rex : max)))) as Pet[];
      const all = added.toSorted((one, other) => Number(one.id - other.id));
      const selections = times(300, (index) => ({
        status: ([undefined, 'sold', 'pending'] as const)[index % 3],
        after: (all[(index * 7) % 5] as Pet).id,
        limit: [1, 20, 101, 130][index % 4] as number,
      }));
      const pages = await Promise.all(selections.map((selection) => pets.list(selection)));
      const expected = selections.map(({ status, after, limit }) =>
        all.filter((pet) => pet.id > after && (status === undefined || pet.status === status)).slice(0, limit),
      );
      expect(pages).toEqual(expected);
      for (const page of pages) (page as Pet[]).length = 0;
      expect(new Set(pages).size).toBe(300);
      for (const pet of added) expect(Object.isFrozen(pet)).toBe(true);
    });

    test('return every write that was acknowledged to another writer before them', async () => {
      const { storage, pets, url } = open();
      await storage.ready();
      const collection = databaseAt(url).collection<PetDocument>('pets', {
        writeConcern: { w: 'majority', journal: true },
      });
      const version = (value: number) => ({ name: String(value).padEnd(200, ' .'), status: 'sold' as const });
      await collection.insertMany(times(101, (index) => ({ _id: BigInt(index + 1), categoryId: 1n, ...version(0) })));
      const reads: (() => Promise<Pet | null | undefined>)[] = [
        async () => pets.find(101n),
        async () => (await pets.list({ after: 0n, limit: 101 }))[100],
        async () => (await pets.list({ after: 0n, limit: 101, status: 'sold' }))[100],
      ];
      let done = false;
      // There is always a read in flight that could be joined.
      const readers = reads.flatMap((read) =>
        times(3, async () => {
          while (!done) await read();
        }),
      );
      let stale = 0;
      for (let written = 1; written <= WRITES; written += 1) {
        await collection.updateOne({ _id: 101n }, { $set: version(written) });
        const seen = await Promise.all(reads.map((read) => read()));
        stale += seen.filter((pet) => Number.parseInt(pet?.name ?? '', 10) < written).length;
      }
      done = true;
      await Promise.all(readers);
      expect(stale).toBe(0);
    });
  });

  test('find keys that exist among many that do not, by a few queries', async () => {
    const { storage, url } = open();
    const existing = times(10, apiKey);
    for (const key of existing) await storage.keys.add(key);
    await storage.keys.list();
    await databaseAt(url).command({ profile: 2 });
    const digests = times(2_000, (index) =>
      index % 200 === 150 ? String(Math.floor(index / 200)).repeat(64) : index.toString(16).padStart(64, 'f'),
    );
    const found = await Promise.all(digests.map((digest) => storage.keys.find(digest)));
    await databaseAt(url).command({ profile: 0 });
    expect(found.filter((key) => key !== null)).toEqual(existing);
    expect(found.map((key) => key?.digest ?? null)).toEqual(
      digests.map((digest, index) => (index % 200 === 150 ? digest : null)),
    );
    const queries = await databaseAt(url)
      .collection('system.profile')
      .find({ op: 'query', ns: /\.api_keys$/ })
      .toArray();
    expect(queries.length).toBeLessThanOrEqual(4);
    for (const { planSummary } of queries) expect(planSummary).toMatch(/^(EXPRESS_)?IXSCAN \{ digest: 1 \}/);
  });

  test('count the requests of each holder by a few writes', async () => {
    const { storage, url } = open();
    await storage.ready();
    await databaseAt(url).command({ profile: 2 });
    const limiter = storage.createRateLimiter({ limit: 1_000, window: 60_000 });
    const holders = times(400, (index) => (index % 4 === 0 ? 'another zoo' : 'the zoo'));
    const quotas = await Promise.all(holders.map((holder) => limiter.take(holder)));
    await databaseAt(url).command({ profile: 0 });
    const remainingOf = (holder: string) =>
      quotas.filter((_, index) => holders[index] === holder).map(({ remaining }) => remaining);
    // The calls are counted in their order.
    expect(remainingOf('the zoo')).toEqual(times(300, (index) => 999 - index));
    expect(remainingOf('another zoo')).toEqual(times(100, (index) => 999 - index));
    const counts = { ns: /\.rates$/, 'command.findAndModify': 'rates' };
    const writes = await databaseAt(url).collection('system.profile').countDocuments(counts);
    expect(writes).toBeGreaterThanOrEqual(2);
    expect(writes).toBeLessThanOrEqual(6);
  });

  test('repeat creations by a few queries, each with the pet of its own key', async () => {
    const { storage, url } = open();
    const creation = (index: number, fingerprint = 'first') =>
      [
        { name: `Rex ${index}`, categoryId: 7n },
        { holder: `zoo ${index % 3}`, key: `${Math.floor(index / 3)}`, fingerprint },
      ] as const;
    const created = await Promise.all(times(1_500, (index) => addTo(storage.pets, ...creation(index))));
    await databaseAt(url).command({ profile: 2 });
    const repeated = await Promise.all(
      times(1_500, (index) => addTo(storage.pets, ...creation(index, index % 10 === 0 ? 'another' : 'first'))),
    );
    await databaseAt(url).command({ profile: 0 });
    expect(repeated).toEqual(created.map((pet, index) => (index % 10 === 0 ? null : pet)));
    const queries = await databaseAt(url)
      .collection('system.profile')
      .find({ op: 'query', ns: /\.pets$/ })
      .toArray();
    expect(queries.length).toBeLessThanOrEqual(10);
    for (const { planSummary, docsExamined } of queries) {
      expect(planSummary).toMatch(/^(?:(?:, )?IXSCAN \{ idempotency.holder: 1, idempotency.key: 1 \})+$/);
      expect(docsExamined).toBeLessThanOrEqual(500);
    }
  });
});

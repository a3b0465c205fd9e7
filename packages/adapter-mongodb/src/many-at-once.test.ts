import type { NewPet, Pet } from '@animal-store/domain';
import { fingerprint, type PetStorage } from '@animal-store/domain/ports';
import { databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMongoStorage } from './index.ts';
import type { PetDocument } from './pet-document.ts';

const rex: NewPet = { name: 'Rex', categoryId: 1n, status: 'sold' };
const max: NewPet = { name: 'Max', categoryId: 1n };
const addition = (key: string, newPet = rex) => ({ holder: 'the zoo', key, fingerprint: fingerprint(newPet) });

function opened(): { storage: PetStorage; pets: PetStorage['pets']; url: string } {
  const url = freshDatabase();
  const storage = createMongoStorage({ url });
  onTestFinished(async () => storage.close());
  return { storage, pets: storage.pets, url };
}

/** How often the other writer writes. */
const WRITES = 400;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describeWithMongo('many calls at once', () => {
  describe('of additions', () => {
    test('are told of their own keys: those that are known, those that are taken, those given twice', async () => {
      const { pets, url } = opened();
      const known = await Promise.all(times(10, (index) => pets.add(rex, addition(`known-${index}`))));
      const [fresh, again, other, twice] = await Promise.all([
        Promise.all(times(60, (index) => pets.add(max, addition(`fresh-${index}`, max)))),
        Promise.all(times(10, (index) => pets.add(rex, addition(`known-${index}`)))),
        Promise.all(times(10, (index) => pets.add(max, addition(`known-${index}`, max)))),
        Promise.all(times(20, (index) => pets.add(rex, addition(`twice-${index % 10}`)))),
      ]);
      expect(again).toEqual(known);
      expect(other).toEqual(Array(10).fill(null));
      expect(twice.slice(10)).toEqual(twice.slice(0, 10));
      const ids = [...known, ...fresh, ...twice].map((pet) => (pet as Pet).id);
      expect(new Set(ids).size).toBe(80);
      expect(await databaseAt(url).collection('pets').countDocuments()).toBe(80);
    });

    test('of which the server refuses one, store all others', async () => {
      const { storage, pets, url } = opened();
      await storage.ready();
      // Of a newer version, which older processes leave alone.
      const validator = { $jsonSchema: { title: 'version 1000', properties: { name: { pattern: '^Rex' } } } };
      await databaseAt(url).command({ collMod: 'pets', validator });
      const calls = await Promise.allSettled(times(40, (index) => pets.add(index === 30 ? max : rex)));
      expect(calls.map(({ status }) => status).indexOf('rejected')).toBe(30);
      expect(calls.filter(({ status }) => status === 'rejected')).toMatchObject([
        { reason: { code: 'storage_unavailable', cause: { code: 121 } } },
      ]);
      const stored = await pets.list({ after: 0n, limit: 100 });
      const byId = (one: Pet, another: Pet) => Number(one.id - another.id);
      const acknowledged = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value as Pet] : []));
      expect(stored).toEqual(acknowledged.sort(byId));
    });

    test('that meet ids which are taken get others', async () => {
      const { pets, url } = opened();
      const before = await Promise.all(times(100, () => pets.add(rex)));
      const last = before.map((pet) => (pet as Pet).id).sort((one, other) => Number(one - other))[99] as bigint;
      const taken = times(20, (index) => ({ _id: last + BigInt(3 * index) + 1n, name: 'Max', categoryId: 1n }));
      await databaseAt(url).collection<PetDocument>('pets').insertMany(taken);
      await databaseAt(url).command({ profile: 2 });
      const calls = times(200, (index) => pets.add(rex, index % 2 === 0 ? undefined : addition(`k${index}`)));
      expect(new Set((await Promise.all(calls)).map((pet) => pet?.id)).size).toBe(200);
      await databaseAt(url).command({ profile: 0 });
      // The counter is raised for all of them together.
      const raised = { op: 'update', ns: /\.counters$/ };
      expect(await databaseAt(url).collection('system.profile').countDocuments(raised)).toBeLessThanOrEqual(6);
      expect(await pets.list({ after: 0n, limit: 1_000 })).toHaveLength(320);
    });

    test('of which one is a defect, store all others', async () => {
      const { pets } = opened();
      const broken = undefined as unknown as typeof rex;
      const calls = await Promise.allSettled(times(20, (index) => pets.add(index === 15 ? broken : rex)));
      expect(calls.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: expect.any(TypeError) }]);
      expect(await pets.list({ after: 0n, limit: 100 })).toHaveLength(19);
    });

    test('store what was passed in, whatever becomes of it meanwhile', async () => {
      const { pets } = opened();
      const calls = times(20, (index) => {
        const newPet = { ...rex, name: `Rex ${index}` };
        const call = pets.add(newPet);
        newPet.name = 'Max';
        return call;
      });
      const names = (await Promise.all(calls)).map((pet) => pet?.name);
      expect(names).toEqual(times(20, (index) => `Rex ${index}`));
      expect((await pets.list({ after: 0n, limit: 100 })).map(({ name }) => name).sort()).toEqual(names.sort());
    });
  });

  describe('of reads', () => {
    test('find each what it asks for, more than one read may look for', async () => {
      const { pets } = opened();
      const added = (await Promise.all(times(30, (index) => pets.add(index % 2 === 0 ? rex : max)))) as Pet[];
      const known = new Map(added.map((pet) => [pet.id, pet]));
      const ids = times(2_500, (index) => BigInt(index + 1));
      const found = await Promise.all([...ids, ...ids].map((id) => pets.find(id)));
      expect(found).toEqual([...ids, ...ids].map((id) => known.get(id) ?? null));
    });

    test('list each its own page, which nobody else can change', async () => {
      const { pets } = opened();
      const added = (await Promise.all(times(160, (index) => pets.add(index % 2 === 0 ? rex : max)))) as Pet[];
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

    test('are never older than what another writer was told is stored before they were made', async () => {
      const { storage, pets, url } = opened();
      await storage.ready();
      const animals = databaseAt(url).collection<PetDocument>('pets', {
        writeConcern: { w: 'majority', journal: true },
      });
      const version = (value: number) => ({ name: String(value).padEnd(200, ' .'), status: 'sold' as const });
      await animals.insertMany(times(101, (index) => ({ _id: BigInt(index + 1), categoryId: 1n, ...version(0) })));
      const reads: (() => Promise<Pet | null | undefined>)[] = [
        async () => pets.find(101n),
        async () => (await pets.list({ after: 0n, limit: 101 }))[100],
        async () => (await pets.list({ after: 0n, limit: 101, status: 'sold' }))[100],
      ];
      let done = false;
      // So that there is always a read under way that could be joined.
      const readers = reads.flatMap((read) =>
        times(3, async () => {
          while (!done) await read();
        }),
      );
      let stale = 0;
      for (let written = 1; written <= WRITES; written += 1) {
        await animals.updateOne({ _id: 101n }, { $set: version(written) });
        const seen = await Promise.all(reads.map((read) => read()));
        stale += seen.filter((pet) => Number.parseInt(pet?.name ?? '', 10) < written).length;
      }
      done = true;
      await Promise.all(readers);
      expect(stale).toBe(0);
    }, 60_000);
  });
});

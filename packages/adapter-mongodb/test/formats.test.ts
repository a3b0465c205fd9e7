import { readFile } from 'node:fs/promises';
import { fingerprint } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { BSON, type Document, type IndexDescriptionInfo } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { PetDocument } from '../src/pets/pet-document.ts';
import { addTo, apiKey, idempotent, openStorage, rex, times } from './fixtures.ts';

/** A collection as a published version has left it. */
interface StoredCollection {
  readonly options: Document;
  readonly indexes: readonly IndexDescriptionInfo[];
  readonly documents: readonly Document[];
}

type StoredDatabase = Readonly<Record<string, StoredCollection>>;

// Written by the version that introduced the format: it never changes.
const FORMAT_1 = BSON.EJSON.parse(await readFile(new URL('fixtures/format-1.json', import.meta.url), 'utf8'), {
  relaxed: false,
  useBigInt64: true,
}) as StoredDatabase;

/** A value without the types of numbers, which the driver and the file represent differently. */
const plain = (value: unknown) => JSON.parse(BSON.EJSON.stringify(value as Document));

async function restored(database: StoredDatabase): Promise<string> {
  const url = freshDatabase();
  const db = databaseAt(url);
  for (const [name, { options, indexes, documents }] of Object.entries(database)) {
    const collection = await db.createCollection(name, options);
    if (indexes.length > 0) await collection.createIndexes([...indexes]);
    await collection.insertMany([...documents]);
  }
  return url;
}

async function stored(url: string): Promise<StoredDatabase> {
  const db = databaseAt(url);
  const collections = await db.listCollections({ name: { $not: /^system\./ } }).toArray();
  const entries = collections.map(async ({ name, options }: { name: string; options?: Document }) => {
    const indexes = (await db.collection(name).indexes()).filter((index) => index.name !== '_id_');
    const documents = await db.collection(name).find().sort({ _id: 1 }).toArray();
    return [name, { options: options ?? {}, indexes, documents }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** A database as it is after all collections got the schema of another title. */
async function titled(title: string | undefined, url: string): Promise<string> {
  for (const name of Object.keys(FORMAT_1)) {
    await databaseAt(url).command({ collMod: name, validator: title === undefined ? {} : { $jsonSchema: { title } } });
  }
  return url;
}

describeWithMongo('the stored format', () => {
  test('is format 1 in a new database', async () => {
    const url = freshDatabase();
    await openStorage({ url }).ready();
    const shape = (database: StoredDatabase) =>
      Object.fromEntries(
        Object.entries(database).map(([name, { options, indexes }]) => [name, plain({ options, indexes })]),
      );
    expect(shape(await stored(url))).toEqual(shape(FORMAT_1));
  });

  test('can be 1: old data is unchanged, and new data can be added', async () => {
    const url = await restored(FORMAT_1);
    const { pets, keys, ready } = openStorage({ url });
    await ready();
    const documents = FORMAT_1['pets']?.documents as PetDocument[];
    const before = documents.map(({ _id, name, categoryId, status }) => ({
      id: _id,
      name,
      categoryId,
      ...(status && { status }),
    }));
    expect(await pets.list({ after: 0n, limit: 100 })).toEqual(before);
    for (const { idempotency, ...pet } of documents) {
      if (idempotency === undefined) continue;
      expect(idempotency.fingerprint).toBe(fingerprint(pet));
      expect(await pets.add(pet, idempotency)).toMatchObject({ created: false, pet: { id: pet._id } });
      expect(await pets.add(rex, { ...idempotency, fingerprint: fingerprint(rex) })).toBeNull();
    }
    const added = await addTo(pets, rex, idempotent('new'));
    expect(added?.id).toBeGreaterThan(9n);

    expect(await keys.list()).toMatchObject([
      { id: apiKey(1).id, expiresAt: null, revokedAt: null, lastUsedAt: null },
      { id: apiKey(2).id, holder: 'Zoë', expiresAt: 1_800_000_000_000 },
      { id: apiKey(3).id, createdAt: 1_763_000_000_003, lastUsedAt: 1_763_000_100_000, revokedAt: 1_763_000_200_000 },
    ]);
    await keys.add(apiKey(4));

    const after = await stored(url);
    for (const name of ['pets', 'api_keys']) {
      expect(after[name]?.documents).toEqual(expect.arrayContaining([...(FORMAT_1[name]?.documents ?? [])]));
      expect(after[name]?.documents).toHaveLength((FORMAT_1[name]?.documents.length ?? 0) + 1);
      expect(plain(after[name]?.options)).toEqual(plain(FORMAT_1[name]?.options));
    }
  });

  describe('is rejected with one line for the operator and not changed', () => {
    const NEWER =
      /^the collection \w+ has format 3, and this version of Animal Store works with format 1: start a newer version$/;
    const OTHER =
      /^the collection \w+ is of another program, or of a version of Animal Store that was never published: name another database$/;

    test.each([
      ['format 3', NEWER],
      ['version 2', OTHER],
      [undefined, OTHER],
    ])('if its title is %s', async (title, line) => {
      const url = await titled(title, await restored(FORMAT_1));
      const before = await stored(url);
      const { ready, pets } = openStorage({ url });
      for (const call of [ready, () => addTo(pets, rex)]) {
        expect(misconfigurationOf(await failureOf(call))).toMatch(line);
      }
      expect((await stored(url))['pets']).toEqual(before['pets']);
    });

    test('if it becomes newer while the process runs, from the next check until it is restored', async () => {
      const url = await restored(FORMAT_1);
      const { ready, pets } = openStorage({ url });
      await ready();
      await titled('format 3', url);
      for (const call of [ready, () => addTo(pets, rex), () => pets.find(1n)]) {
        expect(misconfigurationOf(await failureOf(call))).toMatch(NEWER);
      }
      expect((await stored(url))['pets']?.documents).toEqual(FORMAT_1['pets']?.documents);
      await titled('format 1', url);
      const added = await addTo(pets, rex);
      expect(await pets.find(added?.id ?? 0n)).toEqual(added);
      await ready();
    });

    test('if it becomes newer while the process runs, from the first pet that its schema rejects', async () => {
      const url = await restored(FORMAT_1);
      const { pets } = openStorage({ url });
      await addTo(pets, rex);
      const validator = { $jsonSchema: { title: 'format 3', required: ['species'] } };
      await databaseAt(url).command({ collMod: 'pets', validator });
      const failures = await Promise.all(times(20, () => failureOf(() => addTo(pets, rex))));
      expect(failures).toEqual(times(20, () => expect.objectContaining({ code: 'storage_unavailable' })));
      expect(failures.map(misconfigurationOf)).toContainEqual(expect.stringMatching(NEWER));
      expect(misconfigurationOf(await failureOf(() => pets.find(1n)))).toMatch(NEWER);
      await databaseAt(url).command({ collMod: 'pets', validator: FORMAT_1['pets']?.options['validator'] });
      expect(await addTo(pets, rex)).toMatchObject(rex);
    });
  });
});

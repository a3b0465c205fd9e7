import { readFile } from 'node:fs/promises';
import { fingerprint } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { behindProxy, databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { BSON, type Document, type IndexDescriptionInfo } from 'mongodb';
import { expect, test } from 'vitest';
import type { PetDocument } from '../src/pets.ts';
import { addTo, apiKey, idempotent, isReady, openStorage, rex } from './fixtures.ts';

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

describeWithMongo('the stored format', () => {
  test('is format 1 in a new database', async () => {
    const url = freshDatabase();
    await isReady(openStorage(url));
    const shape = (database: StoredDatabase) =>
      Object.fromEntries(
        Object.entries(database).map(([name, { options, indexes }]) => [name, plain({ options, indexes })]),
      );
    expect(shape(await stored(url))).toEqual(shape(FORMAT_1));
  });

  test('can be 1: old data is unchanged, and new data can be added', async () => {
    const url = await restored(FORMAT_1);
    const { pets, keys } = await isReady(openStorage(url));
    const documents = FORMAT_1['pets']?.documents as PetDocument[];
    const before = documents.map(({ _id, createdAt, idempotency, ...pet }) => ({ id: _id, ...pet }));
    expect(await pets.list({ after: 0n, limit: 100 })).toEqual(before);
    for (const { _id, createdAt, idempotency, ...pet } of documents) {
      if (idempotency === undefined) continue;
      expect(idempotency.fingerprint).toBe(fingerprint(pet));
      expect(await pets.add(pet, idempotency)).toEqual({ created: false, pet: { id: _id, ...pet } });
      expect(await pets.add(rex, { ...idempotency, fingerprint: fingerprint(rex) })).toBeNull();
    }
    expect((await addTo(pets, rex, idempotent('new')))?.id).toBeGreaterThan(9n);

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

  test.each([{}, { $jsonSchema: { title: 'version 1' } }])('is not that of another program: %j', async (validator) => {
    const url = await restored(FORMAT_1);
    await databaseAt(url).command({ collMod: 'pets', validator });
    const before = await stored(url);
    const { url: proxied, proxy } = await behindProxy(url);
    const { ready } = openStorage(proxied);
    const line = 'the collection pets is of another program: name another database';
    await expect.poll(async () => misconfigurationOf(await failureOf(ready))).toBe(line);
    await expect.poll(() => proxy.connections()).toBe(0);
    expect(await stored(url)).toEqual(before);
  });
});

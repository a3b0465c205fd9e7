import { readFile } from 'node:fs/promises';
import { added, apiKey, idempotencyOf } from '@animal-store/adapter-contract';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { behindProxy, databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-servers/mongodb';
import { BSON, type Document, type IndexDescriptionInfo } from 'mongodb';
import { expect, test } from 'vitest';
import type { PetDocument } from '../src/documents.ts';
import { prepareCollections } from '../src/schema.ts';
import { isReady, openStorage, times } from './fixtures.ts';

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

async function restored(): Promise<string> {
  const url = freshDatabase();
  const db = databaseAt(url);
  for (const [name, { options, indexes, documents }] of Object.entries(FORMAT_1)) {
    const collection = await db.createCollection(name, options);
    if (indexes.length > 0) await collection.createIndexes([...indexes]);
    await collection.insertMany([...documents]);
  }
  return url;
}

/** The options and indexes of each collection. */
async function shapeOf(url: string): Promise<unknown> {
  const db = databaseAt(url);
  const collections = await db.listCollections({ name: { $not: /^system\./ } }).toArray();
  const entries = collections.map(async ({ name, options }: { name: string; options?: Document }) => {
    const indexes = (await db.collection(name).indexes()).filter((index) => index.name !== '_id_');
    return [name, plain({ options: options ?? {}, indexes })] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

describeWithMongo('the stored format', () => {
  test('is format 1 in a new database, which is created once by processes that start together', async () => {
    const url = freshDatabase();
    await Promise.all(times(8, () => prepareCollections(databaseAt(url))));
    expect(await shapeOf(url)).toEqual(await shapeOf(await restored()));
  });

  test('can be 1: old data is unchanged, and new data can be added', async () => {
    const { pets, keys, archive } = await isReady(openStorage(await restored()));
    const documents = (FORMAT_1['pets']?.documents ?? []) as PetDocument[];
    const old = documents.map(({ _id, createdAt, ...pet }) => ({ id: _id, ...pet, createdAt: createdAt.getTime() }));
    expect(await archive?.read(0n, 100)).toEqual(old);
    for (const { idempotency, ...pet } of old) {
      if (idempotency !== undefined) expect(idempotency).toEqual(idempotencyOf(pet, idempotency));
    }
    expect((await added(pets)).id).toBeGreaterThan(9n);
    expect(await keys.list()).toMatchObject([
      { id: '1'.repeat(16), expiresAt: null, revokedAt: null, lastUsedAt: null },
      { id: '2'.repeat(16), holder: 'Zoë', expiresAt: 1_800_000_000_000 },
      { createdAt: 1_763_000_000_003, lastUsedAt: 1_763_000_100_000, revokedAt: 1_763_000_200_000 },
    ]);
    await keys.add(apiKey());
  });

  test.each([{}, { $jsonSchema: { title: 'version 1' } }])('is not that of another program: %j', async (validator) => {
    const url = await restored();
    await databaseAt(url).command({ collMod: 'pets', validator });
    const before = await shapeOf(url);
    const { url: proxied, proxy } = await behindProxy(url);
    const { ready } = openStorage(proxied);
    const line = 'the collection pets has no schema of Animal Store: restore it, or name another database';
    await expect.poll(async () => misconfigurationOf(await failureOf(ready))).toBe(line);
    await expect.poll(() => proxy.connections()).toBe(0);
    expect(await shapeOf(url)).toEqual(before);
  });
});

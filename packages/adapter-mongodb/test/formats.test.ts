import { readFile } from 'node:fs/promises';
import { runInNewContext } from 'node:vm';
import { added, apiKey, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { LIMITS } from '@animal-store/domain';
import { ALL_PETS } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { behindProxy, databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-servers/mongodb';
import { BSON, Long } from 'mongodb';
import { expect, test } from 'vitest';
import type { PetDocument } from '../src/documents.ts';
import { FORMAT, prepareCollections } from '../src/schema.ts';
import { type Dump, dumpsOf, freshStorage, isReady, openStorage, restoreDumps, times } from './fixtures.ts';

// Written by the version that introduced the format.
const FIXTURE = BSON.EJSON.parse(await readFile(new URL(`fixtures/format-${FORMAT}.json`, import.meta.url), 'utf8'), {
  relaxed: false,
  useBigInt64: true,
}) as Readonly<Record<string, Omit<Dump, 'name'>>>;

const DOCUMENT_VALIDATION_FAILURE = 121;

async function restored(): Promise<string> {
  const url = freshDatabase();
  const dumps = Object.entries(FIXTURE).map(([name, dump]) => ({ name, ...dump }));
  await restoreDumps(url, dumps);
  return url;
}

/** The options and indexes of each collection. */
const shapeOf = async (url: string) => (await dumpsOf(url)).map(({ documents: _, ...shape }) => shape);

describeWithMongo('the stored format', () => {
  test(`is format ${FORMAT} in a new database, which processes create once that start and write together`, async () => {
    const url = freshDatabase();
    const preparing = times(8, () => prepareCollections(databaseAt(url)));
    const pets = await Promise.all(times(8, async () => added((await isReady(openStorage(url))).pets)));
    await Promise.all(preparing);
    expect(new Set(pets.map(({ id }) => id)).size).toBe(8);
    expect(await shapeOf(url)).toEqual(await shapeOf(await restored()));
  });

  test(`can be ${FORMAT}: old data is unchanged, and new data can be added`, async () => {
    const { pets, keys, archive } = await isReady(openStorage(await restored()));
    const documents = (FIXTURE['pets']?.documents ?? []) as PetDocument[];
    const old = documents.map(({ _id, createdAt, ...pet }) => ({ id: _id, ...pet, createdAt: createdAt.getTime() }));
    expect(await archive?.read(0n, 100)).toEqual(old);
    for (const { idempotency, ...pet } of old) {
      if (idempotency !== undefined) expect(idempotency).toEqual(idempotencyOf(pet, idempotency));
    }
    expect((await added(pets)).id).toBeGreaterThan(9n);
    expect(await keys.list({ after: '', limit: 20 })).toMatchObject([
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

describeWithMongo('a stored document', () => {
  test('has an id below 2^53, and above the counter, which no restored pet lowers', async () => {
    const { db, ...storage } = await freshStorage();
    const counters = db.collection<{ _id: string }>('counters');
    const last = Long.fromBigInt(2n ** 53n - 2n);
    await counters.updateOne({ _id: 'pets' }, { $set: { last } }, { upsert: true });
    await storage.archive?.restore([{ id: 5n, ...rex(), createdAt: 0 }]);
    const wrong = { id: 6n, ...rex({ name: '' }), createdAt: 0 };
    await expect(storage.archive?.restore([wrong])).rejects.toMatchObject({ code: DOCUMENT_VALIDATION_FAILURE });
    expect((await added(storage.pets)).id).toBe(2n ** 53n - 1n);
    expect(await failureOf(() => added(storage.pets))).toMatchObject({ code: DOCUMENT_VALIDATION_FAILURE });
    expect(await storage.pets.list({ ...ALL_PETS, after: 0n, limit: 9 })).toHaveLength(2);
    expect(await counters.findOne()).toEqual({ _id: 'pets', last: 2n ** 53n - 1n });
  });

  test('loses its idempotency key, if it is old, by the statement of the manual', async () => {
    const { db, pets } = await freshStorage();
    const old = await added(pets, rex(), idempotencyOf(rex(), 'old'));
    const young = await added(pets, rex(), idempotencyOf(rex(), 'young'));
    const collection = db.collection<{ _id: bigint; createdAt: Date }>('pets');
    const createdAt = new Date(Date.now() - 31 * 24 * 3_600_000);
    await collection.updateOne({ _id: old.id }, { $set: { createdAt } });
    const manual = await readFile(new URL('../../../docs/storage-mongodb.md', import.meta.url), 'utf8');
    const [, statement = 'no statement'] = /--eval '(db\.pets\..+)'\n/.exec(manual) ?? [];
    await runInNewContext(statement, { db: { pets: collection } });
    expect(await pets.add(rex(), idempotencyOf(rex(), 'young'))).toEqual({ pet: young, created: false });
    expect((await pets.add(rex(), idempotencyOf(rex(), 'old')))?.created).toBe(true);
    expect(await pets.find(old.id)).toEqual(old);
  });

  test('of an API key that was changed by hand fails no search of others, and has the farthest time for one beyond it', async () => {
    const { db, keys } = await freshStorage();
    const records = [apiKey(), apiKey(), apiKey()] as const;
    for (const record of records) await keys.add(record);
    const [broken, far, whole] = records;
    const stored = db.collection<{ _id: string }>('api_keys');
    const unchecked = { bypassDocumentValidation: true };
    await stored.updateOne({ _id: broken.id }, { $unset: { createdAt: '' } }, unchecked);
    const expiresAt = { $toDate: Long.fromBigInt(BigInt(LIMITS.time.max) + 1n) };
    await stored.updateOne({ _id: far.id }, [{ $set: { expiresAt } }], unchecked);
    const found = await Promise.allSettled(records.map(({ digest }) => keys.find(digest)));
    expect(found).toEqual([
      { status: 'rejected', reason: expect.any(TypeError) },
      { status: 'fulfilled', value: { ...far, expiresAt: LIMITS.time.max } },
      { status: 'fulfilled', value: whole },
    ]);
  });
});

import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { LIMITS, type Pet } from '@animal-store/domain';
import { failureOf } from '@animal-store/test-kit/failures';
import { describeWithMongo } from '@animal-store/test-mongodb';
import { Long } from 'mongodb';
import { expect, test } from 'vitest';
import { addTo, apiKey, freshStorage, idempotent, max, rex } from './fixtures.ts';

const DOCUMENT_VALIDATION_FAILURE = 121;

describeWithMongo('a stored document', () => {
  test('has int64, a date, no status if none was given, and the idempotency key of its pet', async () => {
    const before = new Date();
    const { db, ...storage } = await freshStorage();
    const plain = await addTo(storage.pets, { name: 'Rex', categoryId: 1n });
    const named = await addTo(storage.pets, { ...rex, categoryId: LIMITS.categoryId.min }, idempotent('k1'));
    // The client of the tests reads int64 as bigint, and int32 and doubles as numbers.
    expect(await db.collection('pets').find().toArray()).toStrictEqual([
      { _id: plain?.id, name: 'Rex', categoryId: 1n, createdAt: expect.any(Date) },
      {
        _id: named?.id,
        ...rex,
        categoryId: LIMITS.categoryId.min,
        createdAt: expect.any(Date),
        idempotency: idempotent('k1'),
      },
    ]);
    const ofTest = { createdAt: { $gte: before, $lte: new Date() } };
    expect(await db.collection('pets').countDocuments(ofTest)).toBe(2);
  });

  test('has the last date for a timestamp that no date can hold', async () => {
    const storage = await freshStorage();
    await storage.keys.add({ ...apiKey(1), expiresAt: Number.MAX_SAFE_INTEGER });
    expect((await storage.keys.find(apiKey(1).digest))?.expiresAt).toBe(8.64e15);
  });

  test('has an id below 2^53, and above the counter, which no restored pet lowers', async () => {
    const { db, ...storage } = await freshStorage();
    const counters = db.collection<{ _id: string }>('counters');
    const last = Long.fromBigInt(2n ** 53n - 2n);
    await counters.updateOne({ _id: 'pets' }, { $set: { last } }, { upsert: true });
    await storage.archive?.restore([{ id: 5n, ...max, createdAt: 0 }]);
    expect((await addTo(storage.pets, max))?.id).toBe(2n ** 53n - 1n);
    expect(await failureOf(() => addTo(storage.pets, max))).toMatchObject({ code: DOCUMENT_VALIDATION_FAILURE });
    expect(await storage.pets.list({ after: 0n, limit: 9 })).toHaveLength(2);
    expect(await counters.findOne()).toEqual({ _id: 'pets', last: 2n ** 53n - 1n });
  });

  test('loses its idempotency key, if it is old, by the statement of the manual', async () => {
    const { db, pets } = await freshStorage();
    const old = (await addTo(pets, rex, idempotent('old'))) as Pet;
    const young = await addTo(pets, rex, idempotent('young'));
    const collection = db.collection<{ _id: bigint; createdAt: Date }>('pets');
    const createdAt = new Date(Date.now() - 31 * 24 * 3_600_000);
    await collection.updateOne({ _id: old.id }, { $set: { createdAt } });
    const manual = readFileSync(new URL('../../../docs/storage-mongodb.md', import.meta.url), 'utf8');
    const [, statement = 'no statement'] = /--eval '(db\.pets\..+)'\n/.exec(manual) ?? [];
    await runInNewContext(statement, { db: { pets: collection } });
    expect(await pets.add(rex, idempotent('young'))).toEqual({ pet: young, created: false });
    expect((await pets.add(rex, idempotent('old')))?.created).toBe(true);
    expect(await pets.find(old.id)).toEqual(old);
  });
});

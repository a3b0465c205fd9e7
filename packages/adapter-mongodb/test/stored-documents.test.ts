import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { added, apiKey, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { failureOf } from '@animal-store/test-kit/failures';
import { describeWithMongo } from '@animal-store/test-servers/mongodb';
import { Long } from 'mongodb';
import { expect, test } from 'vitest';
import { freshStorage } from './fixtures.ts';

const DOCUMENT_VALIDATION_FAILURE = 121;

describeWithMongo('a stored document', () => {
  test('has the last date for a timestamp that no date can hold', async () => {
    const storage = await freshStorage();
    const key = apiKey({ expiresAt: Number.MAX_SAFE_INTEGER });
    await storage.keys.add(key);
    expect((await storage.keys.find(key.digest))?.expiresAt).toBe(8.64e15);
  });

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
    expect(await storage.pets.list({ after: 0n, limit: 9 })).toHaveLength(2);
    expect(await counters.findOne()).toEqual({ _id: 'pets', last: 2n ** 53n - 1n });
  });

  test('loses its idempotency key, if it is old, by the statement of the manual', async () => {
    const { db, pets } = await freshStorage();
    const old = await added(pets, rex(), idempotencyOf(rex(), 'old'));
    const young = await added(pets, rex(), idempotencyOf(rex(), 'young'));
    const collection = db.collection<{ _id: bigint; createdAt: Date }>('pets');
    const createdAt = new Date(Date.now() - 31 * 24 * 3_600_000);
    await collection.updateOne({ _id: old.id }, { $set: { createdAt } });
    const manual = readFileSync(new URL('../../../docs/storage-mongodb.md', import.meta.url), 'utf8');
    const [, statement = 'no statement'] = /--eval '(db\.pets\..+)'\n/.exec(manual) ?? [];
    await runInNewContext(statement, { db: { pets: collection } });
    expect(await pets.add(rex(), idempotencyOf(rex(), 'young'))).toEqual({ pet: young, created: false });
    expect((await pets.add(rex(), idempotencyOf(rex(), 'old')))?.created).toBe(true);
    expect(await pets.find(old.id)).toEqual(old);
  });
});

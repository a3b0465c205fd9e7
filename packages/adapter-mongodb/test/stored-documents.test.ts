import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { LIMITS, type Pet } from '@animal-store/domain';
import { failureOf } from '@animal-store/test-kit/failures';
import { describeWithMongo } from '@animal-store/test-mongodb';
import { Double, Int32, Long } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { addTo, apiKey, freshStorage, idempotent, max, rex } from './fixtures.ts';

const DOCUMENT_VALIDATION_FAILURE = 121;

const PET = {
  _id: Long.fromNumber(5),
  name: 'Rex',
  categoryId: Long.fromNumber(7),
  status: 'sold',
  createdAt: new Date(0),
  idempotency: { holder: 'the zoo', key: 'k1', fingerprint: 'f' },
};

const API_KEY = {
  _id: 'd'.repeat(16),
  digest: 'd'.repeat(64),
  visiblePrefix: 'anst_0000',
  holder: 'the zoo',
  createdAt: new Date(0),
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};

const { name: _name, ...WITHOUT_NAME } = PET;
const { categoryId: _categoryId, ...WITHOUT_CATEGORY } = PET;
const { createdAt: _createdAt, ...WITHOUT_DATE } = PET;

/** Documents that break one rule each, by the name of a collection. */
const INVALID: readonly (readonly [collection: string, what: string, document: object])[] = [
  ['pets', 'no name', WITHOUT_NAME],
  ['pets', 'no categoryId', WITHOUT_CATEGORY],
  ['pets', 'no createdAt', WITHOUT_DATE],
  ['pets', 'a number as createdAt', { ...PET, createdAt: 7 }],
  ['pets', 'an int32 as id', { ...PET, _id: new Int32(5) }],
  ['pets', 'a double as id', { ...PET, _id: new Double(5) }],
  ['pets', 'a string as id', { ...PET, _id: '5' }],
  ['pets', 'the id 0', { ...PET, _id: Long.fromNumber(0) }],
  ['pets', 'an id of 2^53', { ...PET, _id: Long.fromBigInt(2n ** 53n) }],
  ['pets', 'an int32 as categoryId', { ...PET, categoryId: new Int32(7) }],
  ['pets', 'a double as categoryId', { ...PET, categoryId: new Double(7) }],
  ['pets', 'a number as name', { ...PET, name: 7 }],
  ['pets', 'an empty name', { ...PET, name: '' }],
  ['pets', 'a name that is too long', { ...PET, name: '🐕'.repeat(LIMITS.name.maxLength + 1) }],
  ['pets', 'another status', { ...PET, status: 'gone' }],
  ['pets', 'a status of null', { ...PET, status: null }],
  ['pets', 'a member of its own', { ...PET, colour: 'brown' }],
  ['pets', 'no fingerprint', { ...PET, idempotency: { holder: 'a', key: 'b' } }],
  ['pets', 'an idempotency key with other members', { ...PET, idempotency: { ...PET.idempotency, at: 1 } }],
  ['pets', 'an empty idempotency key', { ...PET, idempotency: { ...PET.idempotency, key: '' } }],
  ['pets', 'a line feed after an idempotency key', { ...PET, idempotency: { ...PET.idempotency, key: 'k1\n' } }],
  ['pets', 'an idempotency key of 256', { ...PET, idempotency: { ...PET.idempotency, key: 'k'.repeat(256) } }],
  ['api_keys', 'no digest', { _id: 'a', holder: 'b' }],
  ['api_keys', 'a digest that is none', { ...API_KEY, digest: 'A'.repeat(64) }],
  ['api_keys', 'a timestamp that is a number', { ...API_KEY, createdAt: 7 }],
  ['api_keys', 'a member of its own', { ...API_KEY, key: 'anst_secret' }],
];

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

  describe('by another writer', () => {
    test('is returned exactly if it follows every rule', async () => {
      const { db, ...storage } = await freshStorage();
      const name = '🐕'.repeat(LIMITS.name.maxLength);
      await db.collection<{ _id: unknown; name: string }>('pets').insertOne({ ...PET, name });
      expect(await storage.pets.find(5n)).toStrictEqual({ id: 5n, name, categoryId: 7n, status: 'sold' });
    });

    test('is rejected if it breaks a rule', async () => {
      const { db } = await freshStorage();
      for (const [collection, what, document] of INVALID) {
        const insertion = db.collection(collection).insertOne(document);
        await expect(insertion, what).rejects.toMatchObject({ code: DOCUMENT_VALIDATION_FAILURE });
      }
    });

    test('is rejected if its name is one character that the domain rejects', async () => {
      const { db } = await freshStorage();
      // One document for each code point that is white space in any definition, and a letter.
      const spaces = [
        ...'\t\n\v\f\r \u0085\u00a0\u1680\u180e\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\u200c\u2060\u0000a',
      ];
      for (let code = 0x2000; code <= 0x200a; code += 1) spaces.push(String.fromCharCode(code));
      const documents = spaces.map((name, index) => ({
        _id: Long.fromNumber(index + 1),
        name,
        categoryId: Long.ZERO,
        createdAt: new Date(),
      }));
      const pets = db.collection<{ _id: unknown; name: string }>('pets');
      await pets.insertMany(documents, { ordered: false }).catch(() => {});
      const stored = (await pets.find().toArray()).map(({ name }) => name);
      expect(stored).toEqual(spaces.filter((name) => LIMITS.name.pattern.test(name)));
      expect(stored).toContain('\u200b');
    });

    test('is rejected if another pet has its holder and idempotency key', async () => {
      const { db } = await freshStorage();
      const pets = db.collection<{ _id: unknown; name: string }>('pets');
      await pets.insertOne(PET);
      await expect(pets.insertOne({ ...PET, _id: Long.fromNumber(6) })).rejects.toMatchObject({ code: 11000 });
    });
  });

  test('has the last date for a timestamp that no date can hold', async () => {
    const storage = await freshStorage();
    await storage.keys.add({ ...apiKey(1), expiresAt: Number.MAX_SAFE_INTEGER });
    expect((await storage.keys.find(apiKey(1).digest))?.expiresAt).toBe(8.64e15);
  });

  test('has an id below 2^53', async () => {
    const { db, ...storage } = await freshStorage();
    const counters = db.collection<{ _id: string }>('counters');
    const last = Long.fromBigInt(2n ** 53n - 2n);
    await counters.updateOne({ _id: 'pets' }, { $set: { last } }, { upsert: true });
    expect((await addTo(storage.pets, max))?.id).toBe(2n ** 53n - 1n);
    expect(await failureOf(() => addTo(storage.pets, max))).toMatchObject({ code: DOCUMENT_VALIDATION_FAILURE });
    expect(await storage.pets.list({ after: 0n, limit: 9 })).toHaveLength(1);
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

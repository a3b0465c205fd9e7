import { LIMITS } from '@animal-store/domain';
import { databaseAt, describeWithMongo, freshDatabase } from '@animal-store/test-mongodb';
import { Double, Int32, Long } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { addTo, apiKey, failureOf, idempotent, max, openStorage, rex } from './fixtures.ts';

async function prepared() {
  const url = freshDatabase();
  const storage = openStorage({ url });
  await storage.ready();
  return { storage, db: databaseAt(url) };
}

const DOCUMENT_VALIDATION_FAILURE = 121;

describeWithMongo('what is stored', () => {
  describe('a pet', () => {
    test.each([LIMITS.categoryId.min, LIMITS.categoryId.max, 0n, 1n, 2n ** 31n, 2n ** 53n + 1n])(
      'with the category %d has int64 in the database, and no status if none was given',
      async (categoryId) => {
        const { storage, db } = await prepared();
        const added = await addTo(storage.pets, { name: 'Rex', categoryId });
        const [stored] = await db
          .collection('pets')
          .aggregate([
            { $project: { members: { $objectToArray: '$$ROOT' }, digits: { $toString: '$categoryId' } } },
            { $set: { members: { $map: { input: '$members', in: ['$$this.k', { $type: '$$this.v' }] } } } },
          ])
          .toArray();
        expect(stored).toEqual({
          _id: added?.id,
          members: [
            ['_id', 'long'],
            ['name', 'string'],
            ['categoryId', 'long'],
          ],
          digits: String(categoryId),
        });
      },
    );

    test('and its idempotency key are one document', async () => {
      const { storage, db } = await prepared();
      const added = await addTo(storage.pets, rex, idempotent('k1'));
      expect(await db.collection('pets').find().toArray()).toEqual([
        {
          _id: added?.id,
          name: 'Rex',
          categoryId: 1n,
          status: 'sold',
          idempotency: idempotent('k1'),
        },
      ]);
    });
  });

  describe('another writer', () => {
    const good = () => ({
      _id: Long.fromNumber(5),
      name: 'Rex',
      categoryId: Long.fromNumber(7),
      status: 'sold',
      idempotency: { holder: 'the zoo', key: 'k1', fingerprint: 'f' },
    });

    test('can store a pet that follows every rule, which is returned exactly', async () => {
      const { storage, db } = await prepared();
      await db.collection<{ _id: unknown }>('pets').insertOne(good());
      expect(await storage.pets.find(5n)).toStrictEqual({ id: 5n, name: 'Rex', categoryId: 7n, status: 'sold' });
    });

    const without = (member: string) => Object.fromEntries(Object.entries(good()).filter(([name]) => name !== member));
    test.each<[string, object]>([
      ['no name', without('name')],
      ['no categoryId', without('categoryId')],
      ['an int32 as id', { ...good(), _id: new Int32(5) }],
      ['a double as id', { ...good(), _id: new Double(5) }],
      ['a string as id', { ...good(), _id: '5' }],
      ['the id 0', { ...good(), _id: Long.fromNumber(0) }],
      ['an id of 2^53', { ...good(), _id: Long.fromBigInt(2n ** 53n) }],
      ['an int32 as categoryId', { ...good(), categoryId: new Int32(7) }],
      ['a double as categoryId', { ...good(), categoryId: new Double(7) }],
      ['a number as name', { ...good(), name: 7 }],
      ['an empty name', { ...good(), name: '' }],
      ['a name of white space', { ...good(), name: ' \t\u00a0\u3000\ufeff' }],
      ['a name that is too long', { ...good(), name: '🐕'.repeat(LIMITS.name.maxLength + 1) }],
      ['another status', { ...good(), status: 'gone' }],
      ['a status of null', { ...good(), status: null }],
      ['a member of its own', { ...good(), colour: 'brown' }],
      ['an idempotency key without a fingerprint', { ...good(), idempotency: { holder: 'a', key: 'b' } }],
      ['an idempotency key with other members', { ...good(), idempotency: { ...good().idempotency, at: 1 } }],
      ['an empty idempotency key', { ...good(), idempotency: { ...good().idempotency, key: '' } }],
      [
        'an idempotency key with a line feed at its end',
        { ...good(), idempotency: { ...good().idempotency, key: 'k1\n' } },
      ],
      [
        'an idempotency key of 256 characters',
        { ...good(), idempotency: { ...good().idempotency, key: 'k'.repeat(256) } },
      ],
    ])('cannot store a pet with %s', async (_, document) => {
      const { db } = await prepared();
      await expect(db.collection('pets').insertOne(document)).rejects.toMatchObject({
        code: DOCUMENT_VALIDATION_FAILURE,
      });
    });

    test('cannot store a name of one character that the domain rejects', async () => {
      const { db } = await prepared();
      // One document for each code point that any reading of white space takes for it, and a letter.
      const spaces = [
        ...'\t\n\v\f\r \u0085\u00a0\u1680\u180e\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\u200c\u2060\u0000a',
      ];
      for (let code = 0x2000; code <= 0x200a; code += 1) spaces.push(String.fromCharCode(code));
      await db
        .collection<{ _id: unknown }>('pets')
        .insertMany(
          spaces.map((name, index) => ({ _id: Long.fromNumber(index + 1), name, categoryId: Long.ZERO })),
          { ordered: false },
        )
        .catch(() => {});
      const stored = (await db.collection('pets').find().toArray()).map(({ name }) => name);
      expect(stored).toEqual(spaces.filter((name) => LIMITS.name.pattern.test(name)));
      expect(stored).toContain('\u200b');
    });

    test('can store a name of the greatest length in code points', async () => {
      const { db } = await prepared();
      const name = '🐕'.repeat(LIMITS.name.maxLength);
      const long = { ...good(), name };
      await db.collection<{ _id: unknown }>('pets').insertOne(long);
    });

    test('cannot store a second pet with the same holder and idempotency key', async () => {
      const { db } = await prepared();
      const pets = db.collection<{ _id: unknown }>('pets');
      await pets.insertOne(good());
      await expect(pets.insertOne({ ...good(), _id: Long.fromNumber(6) })).rejects.toMatchObject({ code: 11000 });
    });

    test.each<[string, object]>([
      ['no digest', { _id: 'a', holder: 'b' }],
      ['a digest that is none', keyDocument({ digest: 'A'.repeat(64) })],
      ['a timestamp that is a number', keyDocument({ createdAt: 7 })],
      ['a member of its own', keyDocument({ key: 'anst_secret' })],
    ])('cannot store an API key with %s', async (_, document) => {
      const { db } = await prepared();
      await expect(db.collection('api_keys').insertOne(document)).rejects.toMatchObject({
        code: DOCUMENT_VALIDATION_FAILURE,
      });
    });
  });

  test('a timestamp that no date can hold does not become 1970', async () => {
    const { storage } = await prepared();
    await storage.keys.add({ ...apiKey(1), expiresAt: Number.MAX_SAFE_INTEGER });
    expect((await storage.keys.find(apiKey(1).digest))?.expiresAt).toBe(8.64e15);
  });

  test('no id is assigned from 2^53 on', async () => {
    const { storage, db } = await prepared();
    await db
      .collection<{ _id: string }>('counters')
      .updateOne({ _id: 'pets' }, { $set: { last: Long.fromBigInt(2n ** 53n - 2n) } }, { upsert: true });
    expect((await addTo(storage.pets, max))?.id).toBe(2n ** 53n - 1n);
    expect(await failureOf(() => addTo(storage.pets, max))).toMatchObject({ code: DOCUMENT_VALIDATION_FAILURE });
    expect(await storage.pets.list({ after: 0n, limit: 9 })).toHaveLength(1);
    expect(await db.collection('counters').findOne()).toEqual({ _id: 'pets', last: 2n ** 53n - 1n });
  });
});

function keyDocument(change: object): object {
  const document = {
    _id: 'd'.repeat(16),
    digest: 'd'.repeat(64),
    visiblePrefix: 'anst_0000',
    holder: 'the zoo',
    createdAt: new Date(0),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
  return { ...document, ...change };
}

import { inspect } from 'node:util';
import { added, apiKey, idempotencyOf, rex } from '@animal-store/adapter-contract';
import type { PetStorage } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import {
  databaseAt,
  describeWithMongo,
  freshDatabase,
  type ReplicaSet,
  startReplicaSet,
} from '@animal-store/test-servers/mongodb';
import type { Collection, CollectionInfo, Db, IndexDescription } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshStorage, isReady, openStorage, profiled, times } from './fixtures.ts';

const key = idempotencyOf(rex(), 'k1');
const SECRET = 'customer-secret-77';
const BY_KEY = 'idempotency.holder_1_idempotency.key_1';

const whyNotReady = async ({ ready }: PetStorage) => misconfigurationOf(await failureOf(ready));

/** Expects that a storage is not ready for a reason, and writes nothing. */
async function expectNoWrites(
  storage: PetStorage,
  reason: string | RegExp,
  ofWrites: string | RegExp = reason,
): Promise<void> {
  expect(await whyNotReady(storage)).toMatch(reason);
  const { pets, keys, archive } = storage;
  for (const write of [
    () => added(pets),
    () => added(pets, rex(), key),
    () => keys.add(apiKey()),
    () => archive?.restore([{ id: 9n, ...rex(), createdAt: 0 }]),
  ]) {
    expect(misconfigurationOf(await failureOf(write))).toMatch(ofWrites);
  }
}

/** Drops a database, and restores it as mongorestore does: with the same documents, in collections with other UUIDs. */
async function dropAndRestore(db: Db): Promise<void> {
  const infos: CollectionInfo[] = await db.listCollections({ name: { $not: /^system\./ } }).toArray();
  const dumps = await Promise.all(
    infos.map(async ({ name, options }) => {
      const collection = db.collection(name);
      return { name, options, indexes: await collection.indexes(), documents: await collection.find().toArray() };
    }),
  );
  await db.dropDatabase();
  for (const { name, options, indexes, documents } of dumps) {
    const collection = await db.createCollection(name, options);
    await collection.createIndexes(indexes as IndexDescription[]);
    if (documents.length > 0) await collection.insertMany(documents);
  }
}

describeWithMongo('a database', () => {
  test('that was dropped and restored while a process used it needs a new process, which finds all of it', async () => {
    const { db, url, ...storage } = await freshStorage();
    const pet = await added(storage.pets, rex(), key);
    await dropAndRestore(db);
    await expectNoWrites(storage, /^the database is not the one that this process has used: restart the process$/);
    expect(await failureOf(() => storage.pets.find(pet.id))).toMatchObject({ code: 'storage_unavailable' });
    const next = await isReady(openStorage(url));
    expect(await added(next.pets, rex(), key)).toEqual(pet);
  });

  test('that was dropped is not created again by a process that has used it', async () => {
    const { db, ...storage } = await freshStorage();
    await added(storage.pets);
    await db.dropDatabase();
    await expectNoWrites(storage, 'the collection pets is missing: restore the database');
    for (const status of [undefined, 'sold'] as const) {
      const list = (after: bigint) => storage.pets.list({ after, limit: 9, ...(status && { status }) });
      for (const end of await Promise.allSettled([list(0n), list(0n), list(1n), list(2n)])) {
        expect(end).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } });
      }
    }
    expect(await db.listCollections().toArray()).toEqual([]);
  });

  test.each(['pets', 'api_keys', 'counters'])(
    'without the collection %s is not used by a new process',
    async (name) => {
      const { db, url, pets, keys } = await freshStorage();
      const pet = await added(pets);
      await keys.add(apiKey());
      await db.renameCollection(name, 'away');
      await expectNoWrites(openStorage(url), `the collection ${name} is missing: restore the database`);
      await db.renameCollection('away', name);
      expect(await (await isReady(openStorage(url))).pets.find(pet.id)).toEqual(pet);
    },
  );

  test('is checked once for a hundred writes at once', async () => {
    const { url } = await freshStorage();
    const { keys } = openStorage(url);
    const work = await profiled(url, () => Promise.all(times(100, () => keys.add(apiKey()))));
    // Once for each collection.
    expect(work.filter(({ command }) => 'listIndexes' in command)).toHaveLength(3);
  });

  test('is created by processes that start while another one already writes to it', async () => {
    const url = freshDatabase();
    const work = async () => added((await isReady(openStorage(url))).pets);
    const pets = await Promise.all(times(8, work));
    expect(new Set(pets.map(({ id }) => id)).size).toBe(8);
  });
});

describeWithMongo('an index that is missing', () => {
  test.each<[string, string, string, (collection: Collection) => Promise<unknown>]>([
    ['pets', 'idempotency.holder, idempotency.key', 'dropped', (pets) => pets.dropIndex(BY_KEY)],
    [
      'pets',
      'idempotency.holder, idempotency.key',
      'no longer unique',
      async (pets) => {
        const [index] = (await pets.indexes()).filter(({ name }) => name === BY_KEY);
        const { unique: _, v: __, ...rest } = index as IndexDescription & { v: number };
        await pets.dropIndex(BY_KEY);
        await pets.createIndexes([rest]);
      },
    ],
    ['pets', 'status, _id', 'dropped', (pets) => pets.dropIndex('status_1__id_1')],
    ['api_keys', 'digest', 'dropped', (keys) => keys.dropIndex('digest_1')],
  ])('stops writes, and is named: that of %s by %s, %s', async (name, fields, _, take) => {
    const { db, ...storage } = await freshStorage();
    const pet = await added(storage.pets, rex(), key);
    const indexes = (await db.collection(name).indexes()) as IndexDescription[];
    await take(db.collection(name));
    await expectNoWrites(
      storage,
      `an index is missing, that of ${name} by ${fields}: restart the process to create it`,
    );
    expect(await storage.pets.find(pet.id)).toEqual(pet);
    await db.collection(name).dropIndexes();
    await db.collection(name).createIndexes(indexes);
    await isReady(storage);
    expect(await added(storage.pets, rex(), key)).toEqual(pet);
  });

  test('is created by the next process', async () => {
    const { db, url, ...storage } = await freshStorage();
    await db.collection('pets').dropIndexes();
    const { pets } = await isReady(openStorage(url));
    await isReady(storage);
    expect(await added(pets, rex(), key)).toEqual(await added(storage.pets, rex(), key));
  });

  test.each([
    ['pets', BY_KEY, /^pets share an idempotency key, .*: remove all but one$/],
    ['api_keys', 'digest_1', /^API keys share a digest, .*: remove all but one$/],
  ])('of %s is a misconfiguration without data if documents are equal by it', async (name, index, line) => {
    const { db, url, pets, keys } = await freshStorage();
    await added(pets, rex(), { ...key, holder: SECRET, key: SECRET });
    const { digest, ...record } = apiKey();
    await keys.add({ ...record, digest });
    await db.collection(name).dropIndex(index);
    const copy = { ...(await db.collection(name).findOne()), _id: name === 'pets' ? 9_999n : 'another' };
    await db.collection(name).insertOne(copy as never);
    const storage = openStorage(url);
    const failure = await failureOf(storage.ready);
    expect(misconfigurationOf(failure)).toMatch(line);
    const everything = inspect(failure, { depth: 20, showHidden: true });
    for (const secret of [SECRET, digest]) expect(everything).not.toContain(secret);
  });
});

describeWithMongo('a schema', () => {
  const NO_SCHEMA = 'the collection pets has no schema of Animal Store: restore it, or name another database';

  test.each<[string, object, string | RegExp]>([
    ['has another format', { validator: { $jsonSchema: { title: 'format 2' } } }, /^the collection pets .*format 2/],
    ['was removed', { validator: {} }, NO_SCHEMA],
    ['only warns', { validationAction: 'warn' }, NO_SCHEMA],
    ['is switched off', { validationLevel: 'off' }, NO_SCHEMA],
  ])('stops writes while it %s', async (_, change, reason) => {
    const { db, ...storage } = await freshStorage();
    const pet = await added(storage.pets);
    const [{ options }] = (await db.listCollections({ name: 'pets' }).toArray()) as [CollectionInfo];
    await db.command({ collMod: 'pets', ...change });
    await expectNoWrites(storage, reason);
    expect(await storage.pets.find(pet.id)).toEqual(pet);
    await db.command({ collMod: 'pets', validationAction: 'error', validationLevel: 'strict', ...options });
    await isReady(storage);
    expect((await added(storage.pets)).id).toBeGreaterThan(pet.id);
  });
});

describeWithMongo('a user', () => {
  const NO_INSERT = 'the user lacks the privilege insert: grant the role readWrite on the database';
  const NO_RIGHTS = /^the server rejects the user, the password or the rights: not authorized on /;
  let set: ReplicaSet;

  beforeAll(async () => {
    set = await startReplicaSet();
    await databaseAt(set.url('admin')).command({ createUser: 'root', pwd: 'secret', roles: ['root'] });
    await set.kill();
    await set.startGuarded();
  });
  afterAll(() => set?.stop());

  /** A new database, and a storage in it of a user with a role. */
  async function storageOf(role: string) {
    const [name, user] = [`test_${crypto.randomUUID()}`, `user_${crypto.randomUUID()}`];
    const urlOf = (name: string, user: string) =>
      `${set.url(name).replace('//', `//${user}:secret@`)}&authSource=admin`;
    const owner = await isReady(openStorage(urlOf(name, 'root')));
    const admin = databaseAt(urlOf('admin', 'root'));
    await admin.command({ createUser: user, pwd: 'secret', roles: [{ role, db: name }] });
    const setRoles = (...roles: object[]) => admin.command({ updateUser: user, roles });
    return { name, owner, storage: openStorage(urlOf(name, user)), setRoles };
  }

  test('who may only read lists pets and keys, also in a connection that is opened again', async () => {
    const { owner, storage } = await storageOf('read');
    const [pet, key] = [await added(owner.pets), apiKey()];
    await owner.keys.add(key);
    const readAll = async () => {
      expect(await storage.pets.list({ after: 0n, limit: 9 })).toEqual([pet]);
      expect(await storage.keys.list()).toEqual([key]);
      expect(await storage.archive?.read(0n, 9)).toMatchObject([pet]);
    };
    await readAll();
    await expectNoWrites(storage, NO_INSERT, NO_RIGHTS);
    await readAll();
  });

  test('who loses a privilege makes a storage not ready, until it is granted again', async () => {
    const { name, storage, setRoles } = await storageOf('readWrite');
    await isReady(storage);
    await added(storage.pets);
    await setRoles({ role: 'read', db: name });
    await expectNoWrites(storage, NO_INSERT, NO_RIGHTS);
    await setRoles({ role: 'dbAdmin', db: name }, { role: 'readWriteAnyDatabase', db: 'admin' });
    await isReady(storage);
    await added(storage.pets);
  });
});

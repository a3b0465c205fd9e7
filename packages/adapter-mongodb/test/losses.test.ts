import { inspect } from 'node:util';
import { added, apiKey, idempotencyOf, rex } from '@animal-store/adapter-contract';
import type { PetStatus } from '@animal-store/domain';
import { ALL_PETS, type Storage } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { databaseAt, describeWithMongo, type ReplicaSet, startReplicaSet } from '@animal-store/test-servers/mongodb';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dumpsOf, freshStorage, isReady, openStorage, profiled, restoreDumps, times } from './fixtures.ts';

const key = idempotencyOf(rex(), 'k1');
const SECRET = 'customer-secret-77';
const REPLACED = /^a collection is missing, or not the one that this process has used: /;
const BY_KEY = 'idempotency.holder_1_idempotency.key_1';

/** Expects that a storage is not ready for a reason, and writes nothing. */
async function expectNoWrites(
  { pets, keys, archive, ready }: Storage,
  reason: string | RegExp,
  ofWrites: string | RegExp = reason,
): Promise<void> {
  expect(misconfigurationOf(await failureOf(ready))).toMatch(reason);
  for (const write of [
    () => added(pets),
    () => added(pets, rex(), key),
    () => keys.add(apiKey()),
    () => archive?.restore([{ id: 9n, ...rex(), createdAt: 0 }]),
  ]) {
    expect(misconfigurationOf(await failureOf(write))).toMatch(ofWrites);
  }
}

describeWithMongo('a database', () => {
  test('that was dropped is not created again, and once restored it needs a new process, which finds all of it', async () => {
    const { db, url, ...storage } = await freshStorage();
    const pet = await added(storage.pets, rex(), key);
    const dumps = await dumpsOf(url);
    await db.dropDatabase();
    await expectNoWrites(storage, 'the collection pets is missing: restore the database');
    const list = (after: bigint, status?: PetStatus) => storage.pets.list({ status, after, limit: 9 });
    const lists = () => Promise.all([list(0n), list(1n), list(0n, 'sold')]);
    const reads = [() => storage.pets.find(pet.id), () => list(0n), () => list(0n, 'sold'), lists];
    for (const read of reads) expect(misconfigurationOf(await failureOf(read))).toMatch(REPLACED);
    expect(await db.listCollections().toArray()).toEqual([]);

    await restoreDumps(url, dumps);
    await expectNoWrites(storage, /^the database is not the one that this process has used: restart the process$/);
    for (const read of reads) expect(misconfigurationOf(await failureOf(read))).toMatch(REPLACED);
    const next = await isReady(openStorage(url));
    expect(await added(next.pets, rex(), key)).toEqual(pet);
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
    // Once for each collection that has indexes.
    expect(work.filter(({ command }) => 'listIndexes' in command)).toHaveLength(2);
  });
});

describeWithMongo('a change by an administrator', () => {
  const NO_SCHEMA = 'the collection pets has no schema of Animal Store: restore it, or name another database';
  const noIndex = (of: string) => `an index is missing, that of ${of}: restart the process to create it`;
  const change = (options: object) => (db: Db) => db.command({ collMod: 'pets', ...options });

  test.each<[string, (db: Db) => Promise<unknown>, string | RegExp]>([
    [
      'the index of idempotency keys is dropped',
      (db) => db.collection('pets').dropIndex(BY_KEY),
      noIndex('pets by idempotency.holder, idempotency.key'),
    ],
    [
      'the index of API keys is no longer unique',
      async (db) => {
        await db.collection('api_keys').dropIndex('digest_1');
        await db.collection('api_keys').createIndex({ digest: 1 });
      },
      noIndex('api_keys by digest'),
    ],
    ['an index is hidden', change({ index: { name: 'status_1__id_1', hidden: true } }), noIndex('pets by status, _id')],
    ['a schema is removed', change({ validator: {} }), NO_SCHEMA],
    ['a schema only warns', change({ validationAction: 'warn' }), NO_SCHEMA],
    ['a schema is switched off', change({ validationLevel: 'off' }), NO_SCHEMA],
  ])('stops writes, but no reading, until it is undone: %s', async (_, make, reason) => {
    const { db, url, ...storage } = await freshStorage();
    const pet = await added(storage.pets, rex(), key);
    const dumps = await dumpsOf(url);
    await make(db);
    await expectNoWrites(storage, reason);
    expect(await storage.pets.find(pet.id)).toEqual(pet);
    for (const { name, options, indexes } of dumps) {
      await db.command({ collMod: name, validationAction: 'error', validationLevel: 'strict', ...options });
      await db.collection(name).dropIndexes();
      await db.collection(name).createIndexes([...indexes]);
    }
    await isReady(storage);
    expect(await added(storage.pets, rex(), key)).toEqual(pet);
  });
});

describeWithMongo('a unique index of an administrator', () => {
  test('makes the calls unavailable whose pets it rejects, and no others; the log names the index without data', async () => {
    const { db, pets, archive } = await freshStorage();
    await db.collection('pets').createIndex({ name: 1 }, { unique: true });
    const { id } = await added(pets, rex({ name: SECRET }), idempotencyOf(rex(), 'old'));
    const twin = { id: id + 10n, ...rex({ name: SECRET }), createdAt: 0 };
    const stored = [
      { ...twin, id },
      { ...twin, idempotency: idempotencyOf(rex(), 'old') },
    ];
    await archive?.restore(stored);
    const calls = [
      () => added(pets, rex({ name: SECRET })),
      () => added(pets, rex({ name: SECRET }), key),
      () => archive?.restore([...stored, twin]),
    ];
    const failures = Promise.all(calls.map(failureOf));
    expect(await added(pets)).toMatchObject(rex());
    for (const failure of await failures) {
      const cause = { message: expect.stringContaining('index: name_1') };
      expect(failure).toMatchObject({ code: 'storage_unavailable', cause });
      expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain(SECRET);
    }
  });
});

describeWithMongo('an index that is missing', () => {
  test('is created by the next process', async () => {
    const { db, url, ...storage } = await freshStorage();
    await db.collection('pets').dropIndexes();
    const { pets } = await isReady(openStorage(url));
    await isReady(storage);
    expect(await added(pets, rex(), key)).toEqual(await added(storage.pets, rex(), key));
  });

  test.each([
    ['is not unique', {}],
    ['has another name', { unique: true, name: 'own' }],
  ])('is not created if one that %s is in its place', async (_, options) => {
    const { db, url } = await freshStorage();
    await db.collection('api_keys').dropIndex('digest_1');
    await db.collection('api_keys').createIndex({ digest: 1 }, options);
    const line = /^an index has other options than that of Animal Store: drop it, and restart the process: /;
    expect(misconfigurationOf(await failureOf(openStorage(url).ready))).toMatch(line);
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

describeWithMongo('a user', () => {
  const NO_INSERT = 'the user lacks the privilege insert: grant the role readWrite on the database';
  const NO_RIGHTS = /^the server rejects the user, the password or the rights: not authorized on /;
  let set: ReplicaSet;

  beforeAll(async () => {
    set = await startReplicaSet();
    const admin = databaseAt(set.url('admin'));
    const everywhere = { resource: { anyResource: true }, actions: ['find', 'insert', 'update'] };
    await admin.command({ createRole: 'writer', privileges: [everywhere], roles: [] });
    await admin.command({ createUser: 'root', pwd: 'secret', roles: ['root'] });
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

  test('who may only read lists pets and keys, and makes a storage not ready while nothing else is granted', async () => {
    const { name, owner, storage, setRoles } = await storageOf('read');
    const [pet, key] = [await added(owner.pets), apiKey()];
    await owner.keys.add(key);
    const readAll = async () => {
      expect(await storage.pets.list({ ...ALL_PETS, after: 0n, limit: 9 })).toEqual([pet]);
      expect(await storage.keys.list({ after: '', limit: 20 })).toEqual([key]);
      expect(await storage.archive?.read(0n, 9)).toMatchObject([pet]);
    };
    await readAll();
    await expectNoWrites(storage, NO_INSERT, NO_RIGHTS);
    await readAll();
    for (const [role, db] of [
      ['readWriteAnyDatabase', 'admin'],
      ['readWrite', name],
      ['writer', 'admin'],
    ]) {
      await setRoles({ role: 'dbAdmin', db: name }, { role, db });
      await isReady(storage);
      await added(storage.pets);
      await setRoles({ role: 'read', db: name });
      await expectNoWrites(storage, NO_INSERT, NO_RIGHTS);
    }
  });
});

import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { type Collection, type Document, type MongoClient, ReadConcern } from 'mongodb';
import { createFence } from './fence.ts';
import { type CounterDocument, createInsertions, type Insertions } from './insert.ts';
import type { KeyDocument } from './keys.ts';
import { createReadBarrier, followPrimary, type ReadBarrier } from './primary.ts';
import { createQuery, createReads, type Query, type Reads } from './read.ts';
import { type CollectionIds, checkCollections, prepareCollections } from './schema.ts';
import { TIME_LIMITS } from './url.ts';

/** A database whose collections exist. */
export interface Database {
  readonly client: MongoClient;
  readonly insertions: Insertions;
  readonly reads: Reads;
  readonly query: Query;
  readonly keys: Collection<KeyDocument>;
  readonly barrier: ReadBarrier;
  readonly ids: CollectionIds;
  /** Rejects unless a majority has just followed the primary, and the database is as it was opened. */
  checkReady(): Promise<unknown>;
  /** Rejects if the database is not as it was opened. Each write begins with it: the server would create what is missing. */
  checkWritable(): Promise<void>;
}

/** How long a check of the database is valid for writes, in milliseconds. */
const CHECK_TTL = 1_000;

/**
 * Opens the database that the client's URL names. Closes the client if that fails.
 *
 * @param known The database that this process has used; null if it has used none, and may create one.
 */
export async function openDatabase(client: MongoClient, known: CollectionIds | null): Promise<Database> {
  try {
    const primary = followPrimary(client);
    await client.connect();
    const hello = await client.db('admin').command({ hello: 1 }, { readPreference: 'primary' });
    checkDeployment(hello, client.options);
    const db = client.db(undefined, {
      // Acknowledged writes survive every failover, and reads return only what would survive one.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: TIME_LIMITS.operation },
      readConcern: new ReadConcern('majority'),
      // A secondary may not have everything yet.
      readPreference: 'primary',
    });
    if (known !== null) await checkCollections(db, known);
    const ids = known ?? (await prepareCollections(db));
    const counters = db.collection<CounterDocument>('counters');
    const linearizable = { readConcern: { level: 'linearizable' }, maxTimeMS: TIME_LIMITS.operation } as const;
    const confirm = () => counters.findOne({ _id: 'pets' }, linearizable);
    const barrier = createReadBarrier(primary, confirm);

    let checkedAt = -Infinity;
    async function check(): Promise<void> {
      checkedAt = -Infinity;
      await checkCollections(db, ids);
      checkedAt = performance.now();
    }
    const checkReady = () => Promise.all([confirm(), check()]);
    async function checkWritable(): Promise<void> {
      if (performance.now() - checkedAt >= CHECK_TTL) await check();
    }
    const collectionUUID = ids.get('pets');
    const query = createQuery(db, collectionUUID);
    const insertions = createInsertions(db, { query, fence: createFence(client), checkWritable });
    const reads = createReads(db, { collectionUUID, query, barrier });
    const keys = db.collection<KeyDocument>('api_keys');
    return { client, ids, insertions, reads, query, keys, barrier, checkReady, checkWritable };
  } catch (failure) {
    await client.close().catch(() => {});
    throw failure;
  }
}

/** The wire version of MongoDB 6.0. */
const OLDEST_WIRE_VERSION = 17;

/**
 * Checks the server that a client is connected to.
 *
 * @param hello The primary's response to the command `hello`.
 * @throws StorageMisconfigured if the adapter can't work with it, however long it waits.
 */
export function checkDeployment(
  hello: Document,
  { directConnection }: Pick<MongoClient['options'], 'directConnection'>,
) {
  const { maxWireVersion, msg, setName, hosts = [], passives = [], arbiters = [] } = hello;
  if (maxWireVersion < OLDEST_WIRE_VERSION) {
    throw new StorageMisconfigured('the server is too old: MongoDB 6.0 or newer is needed');
  }
  if (msg === 'isdbgrid') {
    throw new StorageMisconfigured(
      'the server is a router of a sharded cluster, whose elections the service cannot see: name the members of a ' +
        'replica set',
    );
  }
  if (hello['isreplicaset'] === true) {
    throw unavailable(new Error('the replica set is not initiated: run rs.initiate()'));
  }
  if (setName === undefined) {
    throw new StorageMisconfigured(
      'the server is a standalone: majority writes need a replica set (one member is enough): ' +
        'start mongod with --replSet and run rs.initiate()',
    );
  }
  if (directConnection && hosts.length + passives.length + arbiters.length > 1) {
    throw new StorageMisconfigured(
      'directConnection=true leads to one member of a replica set of several, which may be deposed: remove the option',
    );
  }
}

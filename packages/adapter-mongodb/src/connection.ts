import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { type Document, type MongoClient, ReadConcern } from 'mongodb';
import { createFence } from './fence.ts';
import { type CounterDocument, createInsertions } from './insert.ts';
import type { KeyDocument } from './keys.ts';
import { createReadBarrier, followPrimary } from './primary.ts';
import { createQuery, createReads } from './read.ts';
import { type CollectionIds, checkCollections, checkPrivileges, prepareCollections } from './schema.ts';
import { type Server, TIME_LIMITS } from './url.ts';

/** A database whose collections exist. */
export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** How long a check of the database is valid for writes, in milliseconds. */
const CHECK_TTL = 1_000;

/**
 * Opens a database.
 *
 * @param known The database that this process has used; null if it has used none, and may create one.
 */
export async function openDatabase({ createClient, closeClient, database }: Server, known: CollectionIds | null) {
  const client = createClient();
  const primary = followPrimary(client);
  const close = () => Promise.all([primary.stop(), closeClient(client)]);
  try {
    // The driver connects a new client, but none that was closed.
    const hello = await client.db('admin').command({ hello: 1 }, { readPreference: 'primary' });
    checkDeployment(hello, client.options);
    primary.onHello(hello);
    const db = client.db(database, {
      // What the driver does unless it is told otherwise.
      ...{ raw: false, useBigInt64: false, promoteLongs: true, promoteValues: true, promoteBuffers: false },
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
    const barrier = createReadBarrier(primary.current, confirm);

    let checkedAt = -Infinity;
    let checked = Promise.resolve();
    /** Rejects if the database is not as it was opened. */
    function check(): Promise<void> {
      checkedAt = performance.now();
      checked = checkCollections(db, ids);
      checked.catch(() => {
        checkedAt = -Infinity;
      });
      return checked;
    }
    /** `check`, at most once a second. Each write begins with it: the server would create a collection that is missing. */
    const checkWritable = () => (performance.now() - checkedAt < CHECK_TTL ? checked : check());
    const query = createQuery(db, ids.get('pets'));
    return {
      ...{ close, ids, query, barrier, checkWritable },
      insertions: createInsertions(db, query, createFence(client), checkWritable),
      reads: createReads(db, ids.get('pets'), query, barrier),
      keys: db.collection<KeyDocument>('api_keys'),
      /** Rejects if `check` does, or if no majority confirms the primary, which then can't be written. */
      checkReady: async () => void (await Promise.all([confirm(), check(), checkPrivileges(db)])),
    };
  } catch (failure) {
    await close().catch(() => {});
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

import { type DbOptions, ReadConcern } from 'mongodb';
import { checkPrivileges, createCheck } from './check.ts';
import { checkDeployment } from './deployment.ts';
import { createInsertions } from './insert.ts';
import type { KeyDocument } from './keys.ts';
import { createReadBarrier, followPrimary } from './primary.ts';
import { createQuery, createReads } from './read.ts';
import { type CollectionIds, prepareCollections } from './schema.ts';
import { type Place, TIME_LIMITS } from './url.ts';

/** They override those of the client. */
const OPTIONS: DbOptions = {
  // What the driver does unless it is told otherwise.
  ...{ raw: false, promoteValues: true, promoteBuffers: false },
  // Acknowledged writes survive every failover, and reads return only what would survive one.
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: TIME_LIMITS.operation },
  readConcern: new ReadConcern('majority'),
  // A secondary may not have everything yet.
  readPreference: 'primary',
};

/** A database whose collections exist. */
export type Database = Awaited<ReturnType<typeof openDatabase>>;

/**
 * Opens a database.
 *
 * @param known The database that this process has used; null if it has used none, and may create one.
 */
export async function openDatabase(place: Place, known: CollectionIds | null) {
  const client = place.createClient();
  const primary = followPrimary(client);
  const close = () => Promise.all([primary.stop(), place.closeClient(client)]);
  try {
    // The first command connects a new client; on a closed client it fails.
    const hello = await client.db('admin').command({ hello: 1 }, { readPreference: 'primary' });
    checkDeployment(hello, client.options);
    primary.onHello(hello);
    const db = client.db(place.database, OPTIONS);
    const ids = known ?? (await prepareCollections(db));
    /** A linearizable read: it succeeds only on a primary that has committed a write of its own term. */
    async function confirm(): Promise<void> {
      const readConcern = new ReadConcern('linearizable');
      await db.collection('counters').findOne({}, { readConcern, maxTimeMS: TIME_LIMITS.operation });
    }
    const barrier = createReadBarrier(primary.current, confirm);
    const query = createQuery(db, ids.get('pets'));
    const check = createCheck(db, ids);
    return {
      ...{ close, ids, query, barrier },
      insertions: createInsertions(db, query, client, check.recent),
      reads: createReads(db, ids.get('pets'), query, barrier),
      keys: db.collection<KeyDocument>('api_keys'),
      /** Rejects if a collection is missing or was replaced. Writes call it first: they would create one without its schema. */
      checkWritable: check.recent,
      /** Rejects also if no majority confirms the primary, which then can't be written. */
      checkReady: async () => void (await Promise.all([confirm(), check.now(), checkPrivileges(db)])),
    };
  } catch (failure) {
    await close().catch(() => {});
    throw failure;
  }
}

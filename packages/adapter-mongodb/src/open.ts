import { type DbOptions, ReadConcern } from 'mongodb';
import { checkPrivileges, createCheck } from './check.ts';
import { checkDeployment } from './deployment.ts';
import { createQuery, type KeyDocument } from './documents.ts';
import { followPrimary } from './election/primary.ts';
import { createReadBarrier } from './election/read-barrier.ts';
import { createInsertions } from './insert.ts';
import { createKeyFind } from './keys.ts';
import { TIME_LIMITS } from './limits.ts';
import { createReads } from './pets.ts';
import { type CollectionIds, prepareCollections } from './schema.ts';
import type { Place } from './url.ts';
import { createWrites } from './write.ts';

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

/** Returns a function that opens the database of a place, always the one that it has opened first. */
export function createOpening(place: Place) {
  /** The collections that this process has used; null if it has used none, and may create them. */
  let known: CollectionIds | null = null;

  return async () => {
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
      known ??= ids;
      const check = createCheck(db, ids);
      const { write, end } = createWrites(client, check.recent);
      const query = createQuery(db, 'pets', ids.get('pets'));
      /** A linearizable read: it succeeds only on a primary that has committed a write of its own term. */
      async function confirm(): Promise<void> {
        const readConcern = new ReadConcern('linearizable');
        await db.collection('counters').findOne({}, { readConcern, maxTimeMS: TIME_LIMITS.operation });
      }
      const collection = db.collection<KeyDocument>('api_keys');
      const queryKeys = createQuery(db, 'api_keys', ids.get('api_keys'));
      const barrier = createReadBarrier(primary.current, confirm);
      return {
        ...{ query, barrier, check: check.recent },
        close: () => Promise.all([end(), close()]),
        insertions: createInsertions(db, query, write),
        reads: createReads(db, ids.get('pets'), query, barrier),
        keys: { collection, barrier, write, check: check.recent, find: createKeyFind(queryKeys, barrier) },
        /** Rejects also if no majority confirms the primary, which then can't be written. */
        checkReady: async () => void (await Promise.all([confirm(), check.now(), checkPrivileges(db)])),
      };
    } catch (failure) {
      await close().catch(() => {});
      throw failure;
    }
  };
}

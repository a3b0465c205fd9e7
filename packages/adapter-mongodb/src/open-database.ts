import type { MonotonicClock } from '@animal-store/domain';
import { type Collection, type MongoClient, ReadConcern } from 'mongodb';
import { checkFormats, prepareCollections } from './connection/collection-definition.ts';
import { checkDeployment } from './connection/deployment.ts';
import { createFence } from './connection/fence.ts';
import { INT64_AS_LONG } from './connection/int64.ts';
import { followPrimary } from './connection/primary.ts';
import { createReadBarrier, type ReadBarrier } from './connection/read-barrier.ts';
import { KEY_COLLECTION, type KeyDocument } from './keys/key-document.ts';
import { createKeyLookup, type KeyLookup } from './keys/mongo-key-store.ts';
import { COUNTER_COLLECTION, type CounterDocument } from './pets/id-counter.ts';
import type { PetOperations } from './pets/mongo-pet-store.ts';
import { createPetCreation } from './pets/pet-creation.ts';
import { PET_COLLECTION, type PetDocument } from './pets/pet-document.ts';
import { createPetReads } from './pets/pet-reads.ts';
import type { TimeLimits } from './time-limits.ts';

/**
 * Every collection, as a new database gets it. The list of published names compares them.
 *
 * @public
 */
export const COLLECTIONS = [PET_COLLECTION, KEY_COLLECTION, COUNTER_COLLECTION] as const;

/** A database that is ready for work. */
export interface OpenDatabase {
  readonly pets: PetOperations;
  readonly keys: Collection<KeyDocument>;
  readonly findKey: KeyLookup;
  readonly barrier: ReadBarrier;
  /** Succeeds if the primary can be read and written, and no newer version has changed the format. */
  check(): Promise<void>;
  /** Discards the client. */
  stop(): void;
}

/**
 * @param client Connected to its servers.
 * @param options.name Undefined: the database that the client's URL names.
 */
export async function openDatabase(
  client: MongoClient,
  { name, limits, clock }: { name: string | undefined; limits: TimeLimits; clock: MonotonicClock },
): Promise<OpenDatabase> {
  const primary = followPrimary(client);
  try {
    const hello = await client.db('admin').command({ hello: 1 }, { readPreference: 'primary' });
    checkDeployment(hello);
    primary.start(hello);
    const db = client.db(name, {
      ...INT64_AS_LONG,
      // Acknowledged writes survive every failover, and reads return only what would survive one.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: limits.operation },
      readConcern: new ReadConcern('majority'),
      // A secondary may not have everything yet.
      readPreference: 'primary',
    });
    await prepareCollections(db, COLLECTIONS);
    const pets = db.collection<PetDocument>(PET_COLLECTION.name);
    const keys = db.collection<KeyDocument>(KEY_COLLECTION.name);
    const counters = db.collection<CounterDocument>(COUNTER_COLLECTION.name);

    /** A linearizable read: it succeeds on a primary that a majority has just followed, so it can be written, too. */
    async function confirm(): Promise<void> {
      await counters.findOne({ _id: 'pets' }, { readConcern: { level: 'linearizable' }, maxTimeMS: limits.operation });
    }

    const barrier = createReadBarrier(primary.current, confirm);
    return {
      pets: {
        create: createPetCreation({ pets, counters }, { fence: createFence(client), limits, clock }),
        ...createPetReads(db, barrier, limits),
      },
      keys,
      findKey: createKeyLookup(keys, barrier, limits),
      barrier,
      async check() {
        await confirm();
        await checkFormats(db, COLLECTIONS);
      },
      stop: primary.stop,
    };
  } catch (failure) {
    primary.stop();
    throw failure;
  }
}

import type { MonotonicClock } from '@animal-store/domain';
import type { Collection, CollectionOptions, Db, MongoClient } from 'mongodb';
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
import {
  createRequestCounter,
  RATE_COLLECTION,
  type RateDocument,
  type RequestCounter,
} from './rate-limit/request-counter.ts';
import type { TimeLimits } from './time-limits.ts';

/** The collections of a database, with the concerns that every operation on them has. */
interface Collections {
  readonly pets: Collection<PetDocument>;
  readonly keys: Collection<KeyDocument>;
  readonly counters: Collection<CounterDocument>;
  readonly rates: Collection<RateDocument>;
}

/**
 * Every collection, as a new database gets it. The list of published names compares them.
 *
 * @public
 */
export const COLLECTIONS = [PET_COLLECTION, KEY_COLLECTION, COUNTER_COLLECTION, RATE_COLLECTION] as const;

/** A database that is ready for work. */
export interface OpenDatabase extends Pick<Collections, 'keys'> {
  readonly pets: PetOperations;
  readonly findKey: KeyLookup;
  readonly countRequest: RequestCounter;
  readonly barrier: ReadBarrier;
  /** Succeeds if the primary can be read and written, and no newer version has changed the format. */
  check(): Promise<void>;
  /** Discards the client. */
  stop(): void;
}

export interface DatabaseOptions {
  /** Absent: the database that the client's URL names. */
  readonly name: string | undefined;
  readonly limits: TimeLimits;
  readonly clock: MonotonicClock;
}

/** @param client Connected to its servers. */
export async function openDatabase(
  client: MongoClient,
  { name, limits, clock }: DatabaseOptions,
): Promise<OpenDatabase> {
  const primary = followPrimary(client);
  try {
    primary.start(await checkDeployment(client));
    const db = client.db(name, { readPreference: 'primary', ...INT64_AS_LONG });
    await prepareCollections(db, COLLECTIONS);
    const collections = collectionsOf(db, limits);
    const confirm = () => readLinearizable(collections, limits);
    const barrier = createReadBarrier(primary.current, confirm);
    return {
      pets: {
        create: createPetCreation(collections, { fence: createFence(client), limits, clock }),
        ...createPetReads(db, barrier, limits),
      },
      keys: collections.keys,
      findKey: createKeyLookup(collections.keys, barrier, limits),
      countRequest: createRequestCounter(collections.rates, limits),
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

/** Succeeds on a primary that a majority has just followed: it can be written, too. */
async function readLinearizable({ counters }: Collections, limits: TimeLimits): Promise<void> {
  await counters.findOne({ _id: 'pets' }, { readConcern: { level: 'linearizable' }, maxTimeMS: limits.operation });
}

function collectionsOf(db: Db, limits: TimeLimits): Collections {
  const options: CollectionOptions = {
    // Acknowledged writes survive every failover, and reads return only what would survive one.
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: limits.operation },
    readConcern: { level: 'majority' },
    // A secondary may not have everything yet.
    readPreference: 'primary',
  };
  return {
    pets: db.collection(PET_COLLECTION.name, options),
    keys: db.collection(KEY_COLLECTION.name, options),
    counters: db.collection(COUNTER_COLLECTION.name, options),
    rates: db.collection(RATE_COLLECTION.name, options),
  };
}

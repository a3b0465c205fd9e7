import type { MonotonicClock } from '@animal-store/domain';
import type { MongoClient } from 'mongodb';
import { COLLECTION_DEFINITIONS, type Collections, collectionsOf } from './collections.ts';
import { checkFormats, prepareCollections } from './connection/collection-definition.ts';
import { checkDeployment } from './connection/deployment.ts';
import { createFence } from './connection/fence.ts';
import { INT64_AS_LONG } from './connection/int64.ts';
import { followPrimary } from './connection/primary.ts';
import { createReadBarrier, type ReadBarrier } from './connection/read-barrier.ts';
import { createKeyLookup, type KeyLookup } from './keys/key-lookup.ts';
import type { PetOperations } from './pets/mongo-pet-store.ts';
import { createPetCreation } from './pets/pet-creation.ts';
import { createPetReads } from './pets/pet-reads.ts';
import { createRequestCounter, type RequestCounter } from './rate-limit/request-counter.ts';
import type { TimeLimits } from './time-limits.ts';

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
    await prepareCollections(db, COLLECTION_DEFINITIONS);
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
        await checkFormats(db, COLLECTION_DEFINITIONS);
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

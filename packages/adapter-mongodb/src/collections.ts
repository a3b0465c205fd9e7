import type { Collection, CollectionOptions, Db } from 'mongodb';
import type { CollectionDefinition } from './connection/collection-definition.ts';
import { KEY_COLLECTION, type KeyDocument } from './keys/key-document.ts';
import { COUNTER_COLLECTION, type CounterDocument } from './pets/counter-document.ts';
import { PET_COLLECTION, type PetDocument } from './pets/pet-document.ts';
import { RATE_COLLECTION, type RateDocument } from './rate-limit/rate-document.ts';
import type { TimeLimits } from './time-limits.ts';

/** The collections of a database, with the concerns that every operation on them has. */
export interface Collections {
  readonly pets: Collection<PetDocument>;
  readonly keys: Collection<KeyDocument>;
  readonly counters: Collection<CounterDocument>;
  readonly rates: Collection<RateDocument>;
}

export const COLLECTION_DEFINITIONS: readonly CollectionDefinition[] = [
  PET_COLLECTION,
  KEY_COLLECTION,
  COUNTER_COLLECTION,
  RATE_COLLECTION,
];

export function collectionsOf(db: Db, limits: TimeLimits): Collections {
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

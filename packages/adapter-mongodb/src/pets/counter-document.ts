import { LIMITS } from '@animal-store/domain';
import type { CollectionDefinition } from '../connection/collection-definition.ts';

/** The last id that was reserved in a collection. */
export interface CounterDocument {
  readonly _id: 'pets';
  readonly last: bigint;
}

export const COUNTER_COLLECTION: CollectionDefinition = {
  name: 'counters',
  schema: {
    required: ['_id', 'last'],
    properties: {
      _id: { bsonType: 'string' },
      // The server rejects a reservation beyond the largest id.
      last: { bsonType: 'long', minimum: 0n, maximum: LIMITS.id.maxAssigned },
    },
  },
  indexes: [],
};

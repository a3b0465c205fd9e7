import { LIMITS } from '@animal-store/domain';
import type { Schema } from './collections.ts';

/** The last id that was reserved in a collection. */
export interface CounterDocument {
  readonly _id: 'pets';
  readonly last: bigint;
}

/** A reservation beyond the largest id is refused by the server. */
export const COUNTER_SCHEMA: Schema = {
  version: 1,
  required: ['_id', 'last'],
  properties: {
    _id: { bsonType: 'string' },
    last: { bsonType: 'long', minimum: 0n, maximum: LIMITS.id.maxAssigned },
  },
};

import { LIMITS } from '@animal-store/domain';
import type { Collection } from 'mongodb';
import type { CollectionDefinition } from '../connection/collection-definition.ts';
import { int64Of } from '../connection/int64.ts';
import type { TimeLimits } from '../time-limits.ts';
import type { PetDocument } from './pet-document.ts';

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

/** The collections from which ids come. */
export interface IdCollections {
  readonly pets: Collection<PetDocument>;
  readonly counters: Collection<CounterDocument>;
}

/** The counter that all processes take ids from. */
export interface IdCounter {
  /**
   * Reserves that many ids, above all that were reserved before.
   *
   * @returns The last of them.
   */
  reserve(count: number): Promise<bigint>;
  /** Raises the counter to the highest stored id: it is behind if pets were restored without it. */
  raise(): Promise<void>;
}

export function createIdCounter({ counters, pets }: IdCollections, limits: TimeLimits): IdCounter {
  const bounded = { maxTimeMS: limits.operation };
  return {
    async reserve(count) {
      const counter = await counters.findOneAndUpdate(
        { _id: 'pets' },
        { $inc: { last: BigInt(count) } },
        { upsert: true, returnDocument: 'after', ...bounded },
      );
      return int64Of((counter as CounterDocument).last);
    },

    async raise() {
      const [highest] = await pets
        .find(
          {},
          { projection: { _id: 1 }, sort: { _id: -1 }, limit: 1, readConcern: { level: 'linearizable' }, ...bounded },
        )
        .toArray();
      await counters.updateOne(
        { _id: 'pets' },
        { $max: { last: highest === undefined ? 0n : int64Of(highest._id) } },
        { upsert: true, ...bounded },
      );
    },
  };
}

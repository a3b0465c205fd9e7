import { LIMITS } from '@animal-store/domain';
import type { Collection } from 'mongodb';
import type { CollectionDefinition } from '../connection/collection-definition.ts';
import type { Fence } from '../connection/fence.ts';
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
export function createIdCounter({ counters, pets }: IdCollections, fence: Fence, { operation: maxTimeMS }: TimeLimits) {
  const counter = { _id: 'pets' } as const;
  return {
    /** Reserves this many ids, above all reserved before. Returns the last of them. */
    async reserve(count: number): Promise<bigint> {
      const increment = { $inc: { last: BigInt(count) } };
      const options = { upsert: true, returnDocument: 'after', maxTimeMS } as const;
      const { last } = (await counters.findOneAndUpdate(counter, increment, options)) as CounterDocument;
      return int64Of(last);
    },

    /** Raises the counter to the highest stored id: it is behind if pets were restored without it. */
    async raise(): Promise<void> {
      const options = { projection: { _id: 1 }, sort: { _id: -1 }, maxTimeMS } as const;
      const highest = await fence.read((session) => pets.findOne({}, { ...options, session }));
      if (highest === null) return;
      await counters.updateOne(counter, { $max: { last: int64Of(highest._id) } }, { upsert: true, maxTimeMS });
    },
  };
}

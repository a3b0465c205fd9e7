import type { Db } from 'mongodb';
import { TIME_LIMITS } from './url.ts';

/** The last id that was reserved in a collection. */
interface CounterDocument {
  readonly _id: 'pets';
  /** An int64, which is read as a number. */
  readonly last: bigint | number;
}

const COUNTER = { _id: 'pets' } as const;

/** The counter of a database, from which its processes reserve the ids of pets. */
export function createCounter(db: Db) {
  const counters = db.collection<CounterDocument>('counters');
  const { operation: maxTimeMS } = TIME_LIMITS;
  return {
    /** Reserves this many ids, above all reserved before. Returns the last of them. */
    async reserve(count: number): Promise<bigint> {
      const increment = { $inc: { last: BigInt(count) } };
      const options = { upsert: true, returnDocument: 'after', maxTimeMS } as const;
      const { last } = (await counters.findOneAndUpdate(COUNTER, increment, options)) as CounterDocument;
      return BigInt(last);
    },

    /** Raises the counter to an id, if it is behind. */
    async raiseTo(last: bigint): Promise<void> {
      await counters.updateOne(COUNTER, { $max: { last } }, { upsert: true, maxTimeMS });
    },

    /** Reads it linearizably: that succeeds only on a primary that has committed a write of its own term. */
    async confirm(): Promise<void> {
      await counters.findOne(COUNTER, { readConcern: { level: 'linearizable' }, maxTimeMS });
    },
  };
}

import { createKeyedBatches } from '@animal-store/adapter-kit';
import { type Quota, quotaAfter, type RatePolicy } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import type { CollectionDefinition } from '../connection/collection-definition.ts';
import type { TimeLimits } from '../time-limits.ts';

/** How many requests of a holder were counted in its present window. */
export interface RateDocument {
  /** The holder's name. */
  readonly _id: string;
  readonly used: number;
  readonly endsAt: Date;
  /** When the last of them was counted, by the server's clock. */
  readonly countedAt: Date;
}

export const RATE_COLLECTION: CollectionDefinition = {
  name: 'rates',
  schema: {
    required: ['_id', 'used', 'endsAt', 'countedAt'],
    properties: {
      _id: { bsonType: 'string' },
      used: { bsonType: ['int', 'long'] },
      endsAt: { bsonType: 'date' },
      countedAt: { bsonType: 'date' },
    },
  },
  // The server removes windows that have ended, within a minute or so.
  indexes: [{ key: { endsAt: 1 }, expireAfterSeconds: 0 }],
};

/** Counts a request of a holder. Fails with the driver's errors. */
export type RequestCounter = (holder: string, policy: RatePolicy) => Promise<Quota>;

interface Request {
  readonly holder: string;
  readonly policy: RatePolicy;
}

/**
 * Counts by the server's clock. Requests of a holder that come while a count of this holder is in flight are counted by one
 * write. A count may be lost in a failover: one member's acknowledgement is enough.
 */
export function createRequestCounter(
  rates: Collection<RateDocument>,
  { operation, batch }: TimeLimits,
): RequestCounter {
  const options = { upsert: true, returnDocument: 'after', writeConcern: { w: 1 }, maxTimeMS: operation } as const;
  const count = createKeyedBatches<Request, Quota>(
    ({ holder, policy }) => `${policy.window} ${holder}`,
    async (requests) => {
      const { holder, policy } = requests[0] as Request;
      const isOpen = { $gt: ['$endsAt', '$$NOW'] };
      const $set = {
        used: { $cond: [isOpen, { $add: ['$used', requests.length] }, requests.length] },
        endsAt: { $cond: [isOpen, '$endsAt', { $add: ['$$NOW', policy.window] }] },
        countedAt: '$$NOW',
      };
      // The server itself repeats this if another process opens the holder's first window at the same time.
      const counted = (await rates.findOneAndUpdate({ _id: holder }, [{ $set }], options)) as RateDocument;
      const before = Number(counted.used) - requests.length;
      const resetsIn = counted.endsAt.getTime() - counted.countedAt.getTime();
      return (request, index) => quotaAfter(before + index + 1, request.policy, resetsIn);
    },
    { parallel: 1, maxItems: Number.POSITIVE_INFINITY, maxWait: batch },
  );
  return (holder, policy) => count({ holder, policy });
}

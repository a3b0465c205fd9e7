import { type BatchWork, createKeyedBatches } from '@animal-store/batching';
import { type Quota, quotaAfter, type RatePolicy } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import type { CollectionDefinition } from '../connection/collection-definition.ts';
import { isDuplicateKey } from '../connection/failures.ts';
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

/** Two processes may open a holder's first window at once: one of them then counts in the other's document. */
const MAX_TRIES = 3;

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

  async function add(count: number, { holder, policy }: Request): Promise<RateDocument> {
    const isOpen = { $gt: ['$endsAt', '$$NOW'] };
    const update = [
      {
        $set: {
          used: { $cond: [isOpen, { $add: ['$used', count] }, count] },
          endsAt: { $cond: [isOpen, '$endsAt', { $add: ['$$NOW', policy.window] }] },
          countedAt: '$$NOW',
        },
      },
    ];
    for (let tried = 1; ; tried += 1) {
      try {
        return (await rates.findOneAndUpdate({ _id: holder }, update, options)) as RateDocument;
      } catch (failure) {
        if (!isDuplicateKey(failure) || tried === MAX_TRIES) throw failure;
      }
    }
  }

  const countAll: BatchWork<Request, Quota> = async (requests) => {
    const { used, endsAt, countedAt } = await add(requests.length, requests[0] as Request);
    const before = Number(used) - requests.length;
    const resetsIn = endsAt.getTime() - countedAt.getTime();
    return ({ policy }, index) => quotaAfter(before + index + 1, policy, resetsIn);
  };
  const one = { parallel: 1, maxItems: Number.POSITIVE_INFINITY, maxWait: batch };
  const count = createKeyedBatches(({ holder, policy }) => `${policy.window} ${holder}`, countAll, one);
  return (holder, policy) => count({ holder, policy });
}

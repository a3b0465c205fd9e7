import { type BatchWork, createKeyedBatches } from '@animal-store/batching';
import type { RatePolicy } from '@animal-store/domain/ports';
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

/** A request of a holder that is to be counted. */
interface Take extends Pick<RatePolicy, 'window'> {
  readonly holder: string;
}

/** A request that was counted. */
interface Count {
  /** The requests of its window up to this one. */
  readonly used: number;
  /** Milliseconds until the window ends. */
  readonly resetsIn: number;
}

/** Counts a request. Fails with the driver's errors. */
export type RequestCounter = (take: Take) => Promise<Count>;

/**
 * Counts by the server's clock. Requests of a holder that come while a count of this holder is in flight are counted by one
 * write. A count may be lost in a failover: one member's acknowledgement is enough.
 */
export function createRequestCounter(
  rates: Collection<RateDocument>,
  { operation, batch }: TimeLimits,
): RequestCounter {
  const options = {
    upsert: true,
    returnDocument: 'after',
    writeConcern: { w: 1 },
    maxTimeMS: operation,
  } as const;

  async function add(count: number, { holder, window }: Take): Promise<RateDocument> {
    const isOpen = { $gt: ['$endsAt', '$$NOW'] };
    const update = [
      {
        $set: {
          used: { $cond: [isOpen, { $add: ['$used', count] }, count] },
          endsAt: { $cond: [isOpen, '$endsAt', { $add: ['$$NOW', window] }] },
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

  const countAll: BatchWork<Take, Count> = async (takes) => {
    const { used, endsAt, countedAt } = await add(takes.length, takes[0] as Take);
    const before = Number(used) - takes.length;
    const resetsIn = endsAt.getTime() - countedAt.getTime();
    return (_, index) => ({ used: before + index + 1, resetsIn });
  };

  return createKeyedBatches(({ holder, window }) => `${window} ${holder}`, countAll, {
    parallel: 1,
    maxItems: Number.POSITIVE_INFINITY,
    maxWait: batch,
  });
}

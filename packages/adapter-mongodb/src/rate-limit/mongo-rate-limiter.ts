import { quotaAfter, type RateLimiter, type RatePolicy } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import type { Connection } from '../connection/connection.ts';
import { isDuplicateKey } from '../connection/failures.ts';
import type { TimeLimits } from '../time-limits.ts';
import type { RateDocument } from './rate-document.ts';

/** Two processes may open a holder's first window at once: one of them then counts in the other's document. */
const MAX_TRIES = 3;

/**
 * Counts for all processes on the database, one write for each request, by the server's clock. A count may be lost in a
 * failover: one member's acknowledgement is enough.
 */
export function createMongoRateLimiter(
  connection: Connection<{ rates: Collection<RateDocument> }>,
  limits: TimeLimits,
  policy: RatePolicy,
): RateLimiter {
  const isOpen = { $gt: ['$endsAt', '$$NOW'] };
  const count = [
    {
      $set: {
        used: { $cond: [isOpen, { $add: ['$used', 1] }, 1] },
        endsAt: { $cond: [isOpen, '$endsAt', { $add: ['$$NOW', policy.window] }] },
        countedAt: '$$NOW',
      },
    },
  ];
  const options = {
    upsert: true,
    returnDocument: 'after',
    writeConcern: { w: 1 },
    maxTimeMS: limits.operation,
  } as const;

  async function countIn(rates: Collection<RateDocument>, holder: string): Promise<RateDocument> {
    for (let tried = 1; ; tried += 1) {
      try {
        return (await rates.findOneAndUpdate({ _id: holder }, count, options)) as RateDocument;
      } catch (failure) {
        if (!isDuplicateKey(failure) || tried === MAX_TRIES) throw failure;
      }
    }
  }

  return {
    take: (holder) =>
      connection.call(async ({ rates }) => {
        const { used, endsAt, countedAt } = await countIn(rates, holder);
        return quotaAfter(Number(used), policy, endsAt.getTime() - countedAt.getTime());
      }),
  };
}

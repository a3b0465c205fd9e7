import { quotaAfter, type RateLimiter, type RatePolicy } from '@animal-store/domain/ports';
import type { Collections } from './collections.ts';
import type { Connection } from './connection.ts';
import { isDuplicateKey } from './failures.ts';
import type { RateDocument } from './rate-document.ts';
import type { TimeLimits } from './time-limits.ts';

/** Two that open a holder's first window at once: one of them meets the other's document and counts in it. */
const TRIES = 3;

/**
 * Counts for all processes on the database, one write a request, by the server's clock. A count that a failover loses is
 * no harm: one member's word is enough.
 */
export function createMongoRateLimiter(connection: Connection, limits: TimeLimits, policy: RatePolicy): RateLimiter {
  const open = { $gt: ['$endsAt', '$$NOW'] };
  const count = [
    {
      $set: {
        used: { $cond: [open, { $add: ['$used', 1] }, 1] },
        endsAt: { $cond: [open, '$endsAt', { $add: ['$$NOW', policy.window] }] },
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

  async function counted({ rates }: Collections, holder: string): Promise<RateDocument> {
    for (let tried = 1; ; tried += 1) {
      try {
        return (await rates.findOneAndUpdate({ _id: holder }, count, options)) as RateDocument;
      } catch (failure) {
        if (!isDuplicateKey(failure) || tried === TRIES) throw failure;
      }
    }
  }

  return {
    take: (holder) =>
      connection.call(async (collections) => {
        const { used, endsAt, countedAt } = await counted(collections, holder);
        return quotaAfter(Number(used), policy, endsAt.getTime() - countedAt.getTime());
      }),
  };
}

import { quotaAfter, type RateLimiter, type RatePolicy } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import type { RequestCounter } from './request-counter.ts';

/** Counts for all processes on the database. */
export function createMongoRateLimiter(
  connection: Connection<{ countRequest: RequestCounter }>,
  policy: RatePolicy,
): RateLimiter {
  return {
    take: (holder) =>
      connection.call(async ({ countRequest }) => {
        const { used, resetsIn } = await countRequest({ holder, window: policy.window });
        return quotaAfter(used, policy, resetsIn);
      }),
  };
}

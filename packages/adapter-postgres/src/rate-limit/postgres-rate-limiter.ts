import { createBatches } from '@animal-store/adapter-kit';
import { type Quota, quotaAfter, type RateLimiter, type RatePolicy } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import { fromStored, toStored } from '../connection/text.ts';
import type { TimeLimits } from '../time-limits.ts';

export const RATE_SQL = {
  // Counts by the server's clock. The order of the holders prevents deadlocks.
  count: `INSERT INTO rates AS stored (holder, used, ends_at)
    SELECT holder, used, now() + $3 * interval '1 millisecond'
      FROM unnest($1::text[], $2::bigint[]) AS given (holder, used) ORDER BY holder
    ON CONFLICT (holder) DO UPDATE SET
      used = CASE WHEN stored.ends_at > now() THEN stored.used ELSE 0 END + excluded.used,
      ends_at = CASE WHEN stored.ends_at > now() THEN stored.ends_at ELSE excluded.ends_at END
    RETURNING holder, used, 1000 * extract(epoch FROM ends_at - now())`,
} as const;

const MAX_REQUESTS = 10_000;

/** Counts for all processes on the database: requests that come while a count is in flight are counted by one statement. */
export function createPostgresRateLimiter(
  { query, call }: Connection,
  policy: RatePolicy,
  { batch }: TimeLimits,
): RateLimiter {
  const count = createBatches<string, Quota>(
    async (holders) => {
      const counts = new Map<string, number>();
      for (const holder of holders) counts.set(holder, (counts.get(holder) ?? 0) + 1);
      const given = [[...counts.keys()].map(toStored), [...counts.values()], policy.window];
      const rows = await query<[holder: string, used: string, resetsIn: string]>(RATE_SQL.count, ...given);
      const windows = new Map(rows.map(([holder, used, resetsIn]) => [fromStored(holder), { used, resetsIn }]));
      return (holder) => {
        const { used, resetsIn } = windows.get(holder) as { used: string; resetsIn: string };
        const later = (counts.get(holder) as number) - 1;
        counts.set(holder, later);
        return quotaAfter(Number(used) - later, policy, Number(resetsIn));
      };
    },
    { parallel: 1, maxItems: MAX_REQUESTS, maxWait: batch },
  );
  return { take: (holder) => call(() => count(holder)) };
}

import type { Log } from '@animal-store/observability';
import type { Exchange } from '../http/exchange.ts';

/** The time between two summaries, in milliseconds. */
const INTERVAL = 60_000;

/** How many kinds are distinguished in that time. A client can vary the key and, with many addresses, its own. */
const KINDS_MAX = 100;

/** What the requests of one kind have in common, as the log names it. */
type Kind = Partial<Pick<Exchange, 'method' | 'route' | 'client'>> & { status?: number; key?: string; reason?: string };

/** Counts a request without a valid key. Its result says whether the log gets a line for it. */
export type CountAnonymous = (exchange: Exchange, status: number) => boolean;

/**
 * Keeps requests without a valid key from filling the log: anyone can send thousands of them in a second. Only the first of its
 * kind gets a line; the number of the others is logged after a minute.
 */
export function createAnonymousCount(info: Log['info']): CountAnonymous {
  const kinds = new Map<string, { kind: Kind; times: number }>();
  const others = { kind: {}, times: 0 };

  function summarize(): void {
    for (const { kind, times } of [...kinds.values(), others]) {
      if (times > 0) info('further requests without a valid key', { ...kind, times });
    }
    kinds.clear();
    others.times = 0;
  }

  return ({ method, route, client, rejectedKey, unavailable }, status) => {
    const name = `${method} ${route} ${status} ${client} ${rejectedKey} ${unavailable?.reason}`;
    const known = kinds.get(name);
    if (known === undefined && kinds.size < KINDS_MAX) {
      if (kinds.size === 0) setTimeout(summarize, INTERVAL).unref();
      const kind = {
        ...{ method, route, status, client },
        ...(rejectedKey !== null && { key: rejectedKey }),
        ...(unavailable !== null && { reason: unavailable.reason }),
      };
      kinds.set(name, { kind, times: 0 });
      return true;
    }
    (known ?? others).times += 1;
    return false;
  };
}

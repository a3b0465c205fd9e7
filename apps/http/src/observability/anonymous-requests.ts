import type { Log } from '@animal-store/observability';
import type { Exchange } from '../http/exchange.ts';

/** The time between two summaries, in milliseconds. */
const INTERVAL = 60_000;

/** How many kinds are distinguished in that time. A client can vary the key and, with many addresses, its own. */
const KINDS_MAX = 100;

/** Counts a request without a valid key. Its result says whether the log gets a line for it. */
export type CountAnonymous = (exchange: Exchange, status: number) => boolean;

/**
 * Keeps requests without a valid key from filling the log: anyone can send thousands of them in a second. Only the first of its
 * kind gets a line; the number of the others is logged after a minute.
 */
export function createAnonymousCount(info: Log['info']): CountAnonymous {
  const kinds = new Map<string, { times: number }>();
  const others = { times: 0 };

  function summarize(): void {
    for (const kind of [...kinds.values(), others]) {
      if (kind.times > 0) info('further requests without a valid key', { ...kind });
    }
    kinds.clear();
    others.times = 0;
  }

  return ({ method, route, client, rejectedKey, unavailable }, status) => {
    const common = { method, route, status, client, key: rejectedKey ?? undefined, reason: unavailable?.reason };
    const name = Object.values(common).join();
    const known = kinds.get(name);
    if (known === undefined && kinds.size < KINDS_MAX) {
      if (kinds.size === 0) setTimeout(summarize, INTERVAL).unref();
      kinds.set(name, { ...common, times: 0 });
      return true;
    }
    (known ?? others).times += 1;
    return false;
  };
}

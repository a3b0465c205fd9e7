import type { ApiKey, MonotonicClock } from '@animal-store/domain';
import { apiKeyId, type KeyStore, type StorageEvents } from '@animal-store/domain/ports';

/**
 * How long a record that was found is cached, in milliseconds: so long this process accepts a key that another one has
 * revoked. The port allows 10 seconds; the rest is for the query itself.
 */
export const HIT_TTL = 5_000;

/** How long it is cached that a key does not exist, in milliseconds: another process may just have issued it. */
export const MISS_TTL = 1_000;

/** How many keys are cached of each kind: existing ones and others apart, so that guesses evict no existing key. */
export const MAX_ENTRIES = 10_000;

/** A query in flight. */
interface Query {
  readonly result: Promise<ApiKey | null>;
  readonly queriedAt: number;
}

interface Entry {
  readonly digest: string;
  readonly key: ApiKey | null;
  /** When the query began, not when it returned. */
  readonly queriedAt: number;
}

/**
 * Caches for a short while what `find` returned. This process sees its own changes at once. Lookups of one key share the
 * query that is in flight, unless its result would be too old to be cached for them.
 *
 * @param keys Where the records are.
 * @param clock For ages only: any clock that does not stand still.
 * @param onLookup Called for each lookup. Must not throw.
 */
export function createCachedKeyStore(
  keys: KeyStore,
  clock: MonotonicClock,
  onLookup: StorageEvents['onKeyLookup'] = () => {},
): KeyStore {
  const hits = createEntries(HIT_TTL, clock);
  const misses = createEntries(MISS_TTL, clock);
  const inFlight = new Map<string, Query>();

  function forget(id: string): void {
    hits.delete(id);
    misses.delete(id);
    // The result of a query from before the change must not be cached, nor shared with later lookups.
    for (const digest of inFlight.keys()) if (apiKeyId(digest) === id) inFlight.delete(digest);
  }

  function query(digest: string): Promise<ApiKey | null> {
    const queriedAt = clock();
    const result = Promise.resolve(keys.find(digest)).then(
      (key) => {
        if (inFlight.get(digest)?.result === result) {
          inFlight.delete(digest);
          (key === null ? misses : hits).set(apiKeyId(digest), { digest, key, queriedAt });
        }
        return key;
      },
      (failure) => {
        if (inFlight.get(digest)?.result === result) inFlight.delete(digest);
        throw failure;
      },
    );
    inFlight.set(digest, { result, queriedAt });
    return result;
  }

  /** Makes a change. Cached records from before are discarded, whether it succeeds or not. */
  async function change<T>(id: string, make: () => T): Promise<Awaited<T>> {
    try {
      return await make();
    } finally {
      forget(id);
    }
  }

  return {
    add: (key) => change(key.id, () => keys.add(key)),

    find(digest) {
      const id = apiKeyId(digest);
      const entry = hits.get(id) ?? misses.get(id);
      const isCached = entry?.digest === digest;
      onLookup(isCached);
      if (isCached) return entry.key;
      const shared = inFlight.get(digest);
      return shared !== undefined && isYounger(shared, HIT_TTL, clock) ? shared.result : query(digest);
    },

    list: () => keys.list(),

    revoke: (id, at) => change(id, () => keys.revoke(id, at)),

    async recordUse(id, at) {
      // A failure discards nothing: otherwise each request would look the key up while no use can be recorded.
      await keys.recordUse(id, at);
      forget(id);
    },
  };
}

function isYounger({ queriedAt }: Pick<Entry, 'queriedAt'>, ttl: number, clock: MonotonicClock): boolean {
  const age = clock() - queriedAt;
  // Negative if the clock was put back.
  return age >= 0 && age < ttl;
}

/** Entries up to a number and an age; the oldest is the first to go. */
function createEntries(ttl: number, clock: MonotonicClock) {
  const entries = new Map<string, Entry>();
  return {
    get(id: string): Entry | undefined {
      const entry = entries.get(id);
      if (entry === undefined) return undefined;
      if (isYounger(entry, ttl, clock)) return entry;
      entries.delete(id);
      return undefined;
    },
    set(id: string, entry: Entry): void {
      entries.delete(id);
      entries.set(id, entry);
      if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
    },
    delete(id: string): void {
      entries.delete(id);
    },
  };
}

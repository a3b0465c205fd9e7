import type { ApiKey, MonotonicClock } from '@animal-store/domain';
import { apiKeyId, type KeyStore, type StorageEvents } from '@animal-store/domain/ports';

/**
 * How long a found record is cached, in milliseconds, and so how long this process accepts a key that another one has
 * revoked. The port allows 10 seconds; the rest is for the query itself.
 */
export const HIT_TTL = 5_000;

/** How long it is cached that a key does not exist, in milliseconds: another process may just have issued it. */
export const MISS_TTL = 1_000;

/** How many lookups are cached, and how many existing keys besides, so that guesses evict no existing key. */
export const MAX_ENTRIES = 10_000;

/** A lookup of a key, and its result. */
interface Entry {
  readonly digest: string;
  /** When the query began, not when it returned. */
  readonly queriedAt: number;
  /** The query, as long as it is in flight. */
  readonly query: Promise<ApiKey | null>;
  /** Undefined as long as the query is in flight. */
  key: ApiKey | null | undefined;
}

/**
 * Caches for a short while what `find` returned. This process sees its own changes at once. Lookups of one key share the
 * query that is in flight, unless its result would be too old to be cached for them.
 *
 * @param clock For ages only.
 * @param onLookup Called for each lookup. Must not throw.
 */
export function createCachedKeyStore(
  keys: KeyStore,
  clock: MonotonicClock,
  onLookup: StorageEvents['onKeyLookup'] = () => {},
): KeyStore {
  const hits = new Map<string, Entry>();
  const lookups = new Map<string, Entry>();

  /** A query in flight continues, but its result is neither cached nor shared with later lookups. */
  function forget(id: string): void {
    hits.delete(id);
    lookups.delete(id);
  }

  function cached(id: string, digest: string): Entry | null {
    const entry = hits.get(id) ?? lookups.get(id);
    if (entry?.digest !== digest) return null;
    return clock() - entry.queriedAt < (entry.key === null ? MISS_TTL : HIT_TTL) ? entry : null;
  }

  function query(id: string, digest: string): Promise<ApiKey | null> {
    forget(id);
    const entry: Entry = {
      digest,
      queriedAt: clock(),
      key: undefined,
      query: Promise.resolve(keys.find(digest)).then(
        (key) => {
          entry.key = key;
          if (key !== null && lookups.get(id) === entry) put(hits, id, entry);
          return key;
        },
        (failure) => {
          lookups.delete(id);
          throw failure;
        },
      ),
    };
    put(lookups, id, entry);
    return entry.query;
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
      const entry = cached(id, digest);
      onLookup(entry?.key !== undefined);
      if (entry === null) return query(id, digest);
      return entry.key === undefined ? entry.query : entry.key;
    },

    list: () => keys.list(),

    revoke: (id, at) => change(id, () => keys.revoke(id, at)),

    async prune(before) {
      try {
        return await keys.prune(before);
      } finally {
        hits.clear();
        lookups.clear();
      }
    },

    async recordUse(id, at) {
      // A failure discards nothing: otherwise each request would look the key up while no use can be recorded.
      await keys.recordUse(id, at);
      forget(id);
    },
  };
}

/** Evicts in order of insertion: a key in use is cached again by its next lookup. */
function put(entries: Map<string, Entry>, id: string, entry: Entry): void {
  entries.set(id, entry);
  if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
}

import type { ApiKey, MonotonicClock } from '@animal-store/domain';
import { apiKeyId, type KeyStore } from '@animal-store/domain/ports';

/**
 * How long a known key is believed, in milliseconds: so long a key lives that another process has revoked. The port
 * allows 10 seconds; the rest is for the query itself.
 */
export const KNOWN_MAX_AGE = 5_000;

/** How long a key stays unknown that another process may just have made, in milliseconds. */
export const UNKNOWN_MAX_AGE = 1_000;

/** How many keys are remembered of each kind: those that exist, and those that don't, so that guesses displace no key. */
export const REMEMBERED_MAX = 10_000;

interface Entry {
  readonly digest: string;
  readonly key: ApiKey | null;
  /** When it was asked for, not when the answer came. */
  readonly askedAt: number;
}

/**
 * Remembers what `find` answered for a short while. What this process changes is seen at once. A key that is asked for
 * while the same question is under way waits for that answer.
 *
 * @param keys Where the records are.
 * @param onLookup Told whether a lookup could be answered from memory.
 * @param clock For ages only: any clock that does not stand still.
 */
export function createCachedKeyStore(
  keys: KeyStore,
  clock: MonotonicClock,
  onLookup: (remembered: boolean) => void = () => {},
): KeyStore {
  const known = createEntries(KNOWN_MAX_AGE, clock);
  const unknown = createEntries(UNKNOWN_MAX_AGE, clock);
  const underWay = new Map<string, Promise<ApiKey | null>>();

  function forget(id: string): void {
    known.delete(id);
    unknown.delete(id);
    // An answer to a question from before the change must not be remembered, nor told to those who ask from now on.
    for (const digest of underWay.keys()) if (apiKeyId(digest) === id) underWay.delete(digest);
  }

  function ask(digest: string): Promise<ApiKey | null> {
    const askedAt = clock();
    const answer = Promise.resolve(keys.find(digest)).then(
      (key) => {
        if (underWay.get(digest) === answer) {
          underWay.delete(digest);
          (key === null ? unknown : known).set(apiKeyId(digest), { digest, key, askedAt });
        }
        return key;
      },
      (failure) => {
        if (underWay.get(digest) === answer) underWay.delete(digest);
        throw failure;
      },
    );
    underWay.set(digest, answer);
    return answer;
  }

  /** Makes a change; whether it succeeds or not, what was known before is not believed any more. */
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
      const entry = known.get(id) ?? unknown.get(id);
      const remembered = entry?.digest === digest;
      onLookup(remembered);
      if (remembered) return entry.key;
      return underWay.get(digest) ?? ask(digest);
    },

    list: () => keys.list(),

    revoke: (id, at) => change(id, () => keys.revoke(id, at)),

    recordUse(id, at) {
      // Noted here first, so that the requests until the next reading don't all write it.
      const entry = known.get(id);
      if (entry?.key == null) return change(id, () => keys.recordUse(id, at));
      const lastUsedAt = Math.max(entry.key.lastUsedAt ?? at, at);
      known.set(id, { ...entry, key: Object.freeze({ ...entry.key, lastUsedAt }) });
      return keys.recordUse(id, at);
    },
  };
}

/** Entries up to a number and an age; the oldest is the first to go. */
function createEntries(maxAge: number, clock: MonotonicClock) {
  const entries = new Map<string, Entry>();
  return {
    get(id: string): Entry | undefined {
      const entry = entries.get(id);
      if (entry === undefined) return undefined;
      const age = clock() - entry.askedAt;
      // Negative where the clock was put back.
      if (age >= 0 && age < maxAge) return entry;
      entries.delete(id);
      return undefined;
    },
    set(id: string, entry: Entry): void {
      entries.delete(id);
      entries.set(id, entry);
      if (entries.size > REMEMBERED_MAX) entries.delete(entries.keys().next().value as string);
    },
    delete(id: string): void {
      entries.delete(id);
    },
  };
}

import { type ApiKey, apiKeyId, type Clock, type Digest, isApiKey, isUsable } from './api-key.ts';
import type { ApiKeyRepository } from './api-key-repository.ts';

/** How long the record of a key is cached, in milliseconds, and so how long a revoked key may still be accepted. */
const KEY_TTL = 5_000;

/** How many lookups are cached. They are evicted in order of insertion. */
const MAX_CACHED_KEYS = 10_000;

/** The resolution of {@link ApiKey.lastUsedAt} in milliseconds: a key in constant use is written about once in this time. */
const LAST_USE_RESOLUTION = 60_000;

/** A valid key: its id, which logs may show, and its holder. */
export type AuthenticatedKey = Pick<ApiKey, 'id' | 'holder'>;

/**
 * The id and the holder of a presented key; null if the key is unknown, expired or revoked.
 *
 * @throws DomainError `storage_unavailable`
 */
export type Authenticate = (key: string) => Promise<AuthenticatedKey | null>;

export interface AuthenticationOptions {
  /** Holders by {@link AuthenticationOptions.digest}: keys that are valid as long as the process lives. */
  readonly configuredKeys: ReadonlyMap<string, string>;
  /** Keys that are issued and revoked at run time. Queried only for keys of the form of an issued one. */
  readonly issuedKeys: ApiKeyRepository;
  readonly digest: Digest;
  /** The time by which keys expire and their uses are recorded. */
  readonly clock: Clock;
  /** Milliseconds since an arbitrary time, never set back, for the ages of cached records: `() => performance.now()`. */
  readonly monotonicClock: () => number;
}

/**
 * Authenticates by presented keys. Keys are looked up by their SHA-256 digest, so that the time it takes reveals
 * nothing about the characters of a key. Lookups of one key share a query and its record for 5 seconds; a key that is
 * not found is looked up again.
 */
export function createAuthentication({
  configuredKeys,
  issuedKeys,
  digest,
  clock,
  monotonicClock,
}: AuthenticationOptions): Authenticate {
  const configured = new Map(Array.from(configuredKeys, ([hex, holder]) => [hex, { id: apiKeyId(hex), holder }]));
  // A record may be as old as its query, so its age counts from the start.
  const lookups = new Map<string, { readonly startedAt: number; readonly key: Promise<ApiKey | null> }>();
  const now = () => Math.floor(clock());

  async function query(hex: string): Promise<ApiKey | null> {
    const key = await issuedKeys.find(hex);
    // A last use in the future is of a clock that was ahead.
    if (key !== null && isUsable(key, now()) && Math.abs(now() - (key.lastUsedAt ?? 0)) >= LAST_USE_RESOLUTION) {
      // A valid key is accepted even if its use, which only administrators see, can't be recorded.
      issuedKeys.recordUse(key.id, now()).catch(() => {});
    }
    return key;
  }

  function find(hex: string): Promise<ApiKey | null> {
    const startedAt = monotonicClock();
    const cached = lookups.get(hex);
    if (cached !== undefined && startedAt - cached.startedAt < KEY_TTL) return cached.key;
    const key = query(hex);
    lookups.set(hex, { startedAt, key });
    const forget = () => {
      if (lookups.get(hex)?.key === key) lookups.delete(hex);
    };
    key.then((found) => found === null && forget(), forget);
    if (lookups.size > MAX_CACHED_KEYS) lookups.delete(lookups.keys().next().value as string);
    return key;
  }

  return async (presented) => {
    const hex = digest(presented);
    const configuredKey = configured.get(hex);
    if (configuredKey !== undefined) return configuredKey;
    const key = isApiKey(presented) ? await find(hex) : null;
    return key !== null && isUsable(key, now()) ? { id: key.id, holder: key.holder } : null;
  };
}

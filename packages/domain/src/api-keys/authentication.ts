import { type Awaitable, andThen } from '../awaitable.ts';
import type { Clock } from '../clock.ts';
import { type ApiKey, apiKeyId, type Digest, isUsable, isWellFormedApiKey, requireSha256 } from './api-key.ts';
import type { KeyStore } from './key-store.ts';

/** The resolution of {@link ApiKey.lastUsedAt} in milliseconds: a key in constant use is written once in this time. */
const LAST_USE_RESOLUTION = 60_000;

/** A valid key: its id, which logs may show, and its holder. */
export type AuthenticatedKey = Pick<ApiKey, 'id' | 'holder'>;

/**
 * The id and the holder of a presented key; null if the key is unknown, expired or revoked.
 *
 * @throws DomainError `storage_unavailable`
 */
export type Authenticate = (key: string) => Awaitable<AuthenticatedKey | null>;

export interface AuthenticationOptions {
  /** Holders by digest: keys that are valid as long as the process lives. */
  readonly configuredKeys: ReadonlyMap<string, string>;
  /** Keys that are issued and revoked at run time. Queried only for keys with a valid checksum. */
  readonly issuedKeys: KeyStore;
  /** SHA-256 in hexadecimal digits. */
  readonly digest: Digest;
  /** The time by which keys expire and their uses are recorded. */
  readonly clock: Clock;
}

/**
 * Authenticates by presented keys. Keys are looked up by their SHA-256 digest, so that the time it takes reveals
 * nothing about the characters of a key.
 *
 * @throws TypeError if `digest` is not SHA-256 in hexadecimal digits.
 */
export function createAuthentication({
  configuredKeys,
  issuedKeys,
  digest,
  clock,
}: AuthenticationOptions): Authenticate {
  requireSha256(digest);
  /** The ids of keys whose use is being recorded. Otherwise each request would add a write while the storage is slow. */
  const recording = new Set<string>();

  /** The configured keys by digest, made in advance so that a request allocates nothing. */
  const configured = new Map<string, AuthenticatedKey>();
  for (const [hex, holder] of configuredKeys) configured.set(hex, { id: apiKeyId(hex), holder });

  function usable(key: ApiKey | null): AuthenticatedKey | null {
    const now = Math.floor(clock());
    if (key === null || !isUsable(key, now)) return null;
    if (now - (key.lastUsedAt ?? 0) >= LAST_USE_RESOLUTION) void recordUse(key, now);
    return key;
  }

  async function recordUse({ id }: ApiKey, now: number): Promise<void> {
    if (recording.has(id)) return;
    recording.add(id);
    try {
      await issuedKeys.recordUse(id, now);
    } catch {
      // A valid key is accepted even if its use, which only administrators see, can't be recorded.
    } finally {
      recording.delete(id);
    }
  }

  return (key) => {
    const hex = digest(key);
    const known = configured.get(hex);
    if (known !== undefined) return known;
    return isWellFormedApiKey(key) ? andThen(issuedKeys.find(hex), usable) : null;
  };
}

import type { ApiKey } from './api-key.ts';
import type { Awaitable } from './awaitable.ts';

/**
 * The port for persistence of API keys. An adapter is right when it passes the suites of
 * `@animal-store/adapter-contract`. It keeps digests and never sees a key.
 *
 * Each method throws (or rejects with) a DomainError `service_unavailable`, within seconds, where the storage can't be
 * reached.
 */
export interface KeyStore {
  /** Stores a key's record. A second one with the same digest changes nothing. */
  add(key: ApiKey): Awaitable<void>;

  /**
   * The record of the key with this digest, or null; expired and revoked ones too. It may be up to 10 seconds old where
   * another process changed it.
   */
  find(digest: string): Awaitable<ApiKey | null>;

  /** All records, the oldest first. */
  list(): Awaitable<readonly ApiKey[]>;

  /** Sets the moment of revocation where there is none yet. @returns The record as it now is, or null for an unknown id. */
  revoke(id: string, at: number): Awaitable<ApiKey | null>;

  /** Keeps the moment as the key's last use, unless a later one is known. An unknown id is ignored. */
  recordUse(id: string, at: number): Awaitable<void>;
}

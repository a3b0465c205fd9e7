import type { ApiKey } from './api-key.ts';

/** A range of the records in ascending order of id. */
export interface ApiKeySelection {
  /** Only records whose id is greater: 16 hexadecimal digits, or `''` for all. */
  readonly after: string;
  /** At most this many records: 1 to `LIMITS.page.maxRead`. */
  readonly limit: number;
}

/**
 * The port for persistence of API keys. It stores digests and never sees a key.
 *
 * The rules of `PetRepository` about acknowledgement, failures and arguments apply. A method rejects with a TypeError if a time
 * is not in whole milliseconds, in the range of a Date: some drivers would store another one. `requiringTimes` does so.
 */
export interface ApiKeyRepository {
  /** Stores a key's record. A second one with the same digest changes nothing. */
  add(key: ApiKey): Promise<void>;

  /** The record of the key with this digest, expired and revoked ones too, or null. */
  find(digest: string): Promise<ApiKey | null>;

  /**
   * The first records of a selection in ascending order of id, expired and revoked ones too. Following the pages to their end
   * yields every record that was acknowledged at the start. It may miss records that are added meanwhile.
   *
   * The order is by id, not by age: an id is unique, so a page continues exactly, and its digits are those of a digest, so
   * partitions that each hold a range of ids are equally large and are read one after the other.
   */
  list(selection: ApiKeySelection): Promise<readonly ApiKey[]>;

  /**
   * Sets the time of revocation, in milliseconds since the epoch, unless there is one already, and nothing else: the key may
   * be used at the same time.
   *
   * @param id 16 hexadecimal digits, like the id of {@link ApiKeyRepository.recordUse}.
   * @returns The record as it now is, or null for an unknown id.
   */
  revoke(id: string, at: number): Promise<ApiKey | null>;

  /**
   * Sets the key's last use, also to an earlier time, because a clock may have been ahead, and nothing else: the key may be
   * revoked at the same time. Ignores an unknown id.
   */
  recordUse(id: string, at: number): Promise<void>;
}

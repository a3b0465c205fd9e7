import type { Clock } from '../clock.ts';
import { DomainError, rejectViolations } from '../errors.ts';
import { LIMITS } from '../pets/limits.ts';
import { quote, violation } from '../quote.ts';
import {
  type ApiKey,
  type Digest,
  describeApiKey,
  generateApiKey,
  isApiKeyId,
  type RandomBytes,
  requireSha256,
} from './api-key.ts';
import type { KeyStore } from './key-store.ts';

const HOLDER_LENGTH = LIMITS.holder.maxLength;

/** Configured keys have holders with this prefix: an issued key must not share their idempotency keys. */
const RESERVED_PREFIX = 'configured-';

/** Printable ASCII characters without outer spaces. */
const HOLDER = new RegExp(
  `^(?!${RESERVED_PREFIX})(?=.{1,${HOLDER_LENGTH}}$)[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$`,
);

/** Administrators read times of expiry as dates, which end in the year 275760. */
const EXPIRY_END = Date.UTC(275_760, 0);

/** A key that was just made. */
export interface IssuedKey {
  /** The key itself, to be handed to its holder now: it is stored nowhere. */
  readonly key: string;
  readonly record: ApiKey;
}

/** The use cases for administrators of API keys. */
export interface Keyring {
  /**
   * Makes a key.
   *
   * @param request.holder Whose key it is: 1 to 100 printable ASCII characters, without outer spaces. Names that
   * begin with `configured-` are those of configured keys.
   * @param request.expiresAt Whole milliseconds since the epoch, in the future and before the year 275760; null for a key
   * that does not expire.
   * @throws DomainError `invalid`, `storage_unavailable`
   */
  issue(request: { holder: string; expiresAt: number | null }): Promise<IssuedKey>;

  /**
   * All keys, the oldest first.
   *
   * @throws DomainError `storage_unavailable`
   */
  list(): Promise<readonly ApiKey[]>;

  /**
   * Revokes a key: within 5 seconds every process rejects it.
   *
   * @returns The key's record.
   * @throws DomainError `key_not_found`, `storage_unavailable`
   */
  revoke(id: string): Promise<ApiKey>;

  /**
   * Removes the records of keys that were revoked or expired before a time.
   *
   * @param before Whole milliseconds since the epoch, not in the future.
   * @returns How many were removed.
   * @throws DomainError `invalid`, `storage_unavailable`
   */
  prune(before: number): Promise<number>;
}

/** The dependencies of a keyring. */
export interface KeyringOptions {
  /** Where the records are stored. */
  readonly keys: KeyStore;
  /** SHA-256 in hexadecimal digits: `(text) => createHash('sha256').update(text).digest('hex')` on Node.js. */
  readonly digest: Digest;
  /** A cryptographically secure source: `randomBytes` of `node:crypto`, for example. */
  readonly randomBytes: RandomBytes;
  /** The time of issuing and revoking: `Date.now`. */
  readonly clock: Clock;
}

/**
 * The use cases for administrators of API keys on a storage.
 *
 * @throws TypeError if `digest` is not SHA-256 in hexadecimal digits.
 * @example const keyring = createKeyring({ keys: storage.keys, digest, randomBytes, clock: Date.now })
 */
export function createKeyring({ keys, digest, randomBytes, clock }: KeyringOptions): Keyring {
  requireSha256(digest);
  const now = () => Math.floor(clock());
  return {
    async issue({ holder, expiresAt }) {
      const createdAt = now();
      rejectViolations({ holder: holderViolation(holder), expiresAt: expiryViolation(expiresAt, createdAt) });
      const key = generateApiKey(randomBytes);
      const record = describeApiKey(key, { holder, digest, createdAt, expiresAt });
      await keys.add(record);
      return { key, record };
    },

    list: async () => keys.list(),

    async revoke(id) {
      const key = isApiKeyId(id) ? await keys.revoke(id, now()) : null;
      if (key === null) throw new DomainError('key_not_found', `no API key has the id ${quote(id)}`);
      return key;
    },

    async prune(before) {
      rejectViolations({ before: pruneViolation(before, now()) });
      return keys.prune(before);
    },
  };
}

function holderViolation(holder: unknown): string | null {
  if (typeof holder === 'string' && HOLDER.test(holder)) return null;
  return violation(
    `holder must be 1 to ${HOLDER_LENGTH} printable ASCII characters without outer spaces and not begin with ${RESERVED_PREFIX}`,
    holder,
  );
}

/** A key that expires later is still valid. */
function pruneViolation(before: unknown, now: number): string | null {
  if (typeof before === 'number' && Number.isInteger(before) && before >= 0 && before <= now) return null;
  return violation('before must be whole milliseconds since the epoch, not in the future', before);
}

function expiryViolation(expiresAt: unknown, now: number): string | null {
  if (expiresAt === null) return null;
  const rule = 'expiresAt must be null or whole milliseconds since the epoch, in the future and before the year 275760';
  const isInRange = Number.isInteger(expiresAt) && (expiresAt as number) > now && (expiresAt as number) < EXPIRY_END;
  return isInRange ? null : violation(rule, expiresAt);
}

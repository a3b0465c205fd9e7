import { DomainError, rejectViolations } from '../errors.ts';
import { isIntegerFrom, LIMITS } from '../pets/limits.ts';
import { limitViolation } from '../pets/pet-query.ts';
import { violation } from '../quote.ts';
import {
  type ApiKey,
  apiKeyId,
  type Clock,
  type Digest,
  generateApiKey,
  type RandomBytes,
  visiblePrefixOf,
} from './api-key.ts';
import type { ApiKeyRepository } from './api-key-repository.ts';

/** Configured keys have holders with this prefix: an issued key must not share their idempotency keys. */
const RESERVED_PREFIX = 'configured-';

/** Administrators read times of expiry as dates, which end in the year 275760. */
const EXPIRY_END = Date.UTC(275_760, 0);

const KEY_NOT_FOUND = 'no API key has this id: the list of keys shows the ids, 16 hexadecimal digits each';

/** A key that was just made. */
export interface IssuedKey {
  /** The key itself, to be handed to its holder now: it is stored nowhere. */
  readonly key: string;
  readonly record: ApiKey;
}

/** Selects a page of API keys. */
export interface ApiKeyQuery {
  /**
   * At most this many keys: 1 to 100 ({@link LIMITS}).
   *
   * @default 20
   */
  readonly limit?: number | undefined;
  /**
   * Only keys whose id is greater: {@link ApiKeyPage.next}.
   *
   * @default the first page
   */
  readonly after?: string | undefined;
}

/** One page of API keys, in ascending order of id, which is not that of their age. */
export interface ApiKeyPage {
  readonly keys: readonly ApiKey[];
  /** The {@link ApiKeyQuery.after} of the next page; null on the last page. */
  readonly next: string | null;
}

/** The use cases for administrators of API keys. Each may reject with a DomainError `storage_unavailable`, too. */
export interface Keyring {
  /**
   * Makes a key.
   *
   * @param request.holder Whose key it is: 1 to 100 printable ASCII characters, without outer spaces. Names that
   * begin with `configured-` are those of configured keys.
   * @param request.expiresAt Whole milliseconds since the epoch, in the future and before the year 275760; null for a key
   * that does not expire.
   * @throws DomainError `invalid`
   */
  issue(request: { holder: string; expiresAt: number | null }): Promise<IssuedKey>;

  /**
   * Lists keys, expired and revoked ones too. Following `next` to its end yields every key that existed at the start once.
   *
   * @throws DomainError `invalid`
   */
  list(query?: ApiKeyQuery): Promise<ApiKeyPage>;

  /**
   * Revokes a key: within 5 seconds every process rejects new requests with it.
   *
   * @returns The key's record.
   * @throws DomainError `key_not_found`
   */
  revoke(id: string): Promise<ApiKey>;
}

/** The dependencies of a keyring. */
export interface KeyringOptions {
  /** Where the records are stored. */
  readonly keys: ApiKeyRepository;
  /** `(text) => createHash('sha256').update(text).digest('hex')` on Node.js. */
  readonly digest: Digest;
  /** `randomBytes` of `node:crypto`, for example. */
  readonly randomBytes: RandomBytes;
  /** The time of issuing and revoking: `Date.now`. */
  readonly clock: Clock;
}

/**
 * The use cases for administrators of API keys on a storage.
 *
 * @example const keyring = createKeyring({ keys: storage.keys, digest, randomBytes, clock: Date.now })
 */
export function createKeyring({ keys, digest, randomBytes, clock }: KeyringOptions): Keyring {
  const now = () => Math.floor(clock());
  return {
    async issue(request) {
      const { holder, expiresAt }: typeof request = Object(request);
      const createdAt = now();
      rejectViolations({ holder: holderViolation(holder), expiresAt: expiryViolation(expiresAt, createdAt) });
      const key = generateApiKey(randomBytes);
      const [hex, visiblePrefix] = [digest(key), visiblePrefixOf(key) as string];
      const times = { createdAt, expiresAt, revokedAt: null, lastUsedAt: null };
      const record = { id: apiKeyId(hex), digest: hex, visiblePrefix, holder, ...times };
      await keys.add(record);
      return { key, record };
    },

    async list({ limit = LIMITS.page.default, after = '' } = {}) {
      const isPlace = after === '' || isId(after);
      rejectViolations({ limit: limitViolation(limit), after: isPlace ? null : 'after must be the next of a page' });
      // One more than asked for tells whether there is a next page.
      const found = await keys.list({ after, limit: limit + 1 });
      const page = found.slice(0, limit);
      return { keys: page, next: found.length > limit ? (page[limit - 1] as ApiKey).id : null };
    },

    async revoke(id) {
      const key = isId(id) ? await keys.revoke(id, now()) : null;
      // The message does not quote the id: somebody may have passed the key.
      if (key === null) throw new DomainError('key_not_found', KEY_NOT_FOUND);
      return key;
    },
  };
}

const isId = (id: unknown) => typeof id === 'string' && /^[0-9a-f]{16}$/.test(id);

function holderViolation(holder: unknown): string | null {
  const { maxLength } = LIMITS.holder;
  const isName = typeof holder === 'string' && /^[\x20-\x7e]+$/.test(holder) && holder.length <= maxLength;
  if (isName && holder.trim() === holder && !holder.startsWith(RESERVED_PREFIX)) return null;
  return violation(
    `holder must be 1 to ${maxLength} printable ASCII characters without outer spaces and not begin with ${RESERVED_PREFIX}`,
    holder,
  );
}

function expiryViolation(expiresAt: unknown, now: number): string | null {
  if (expiresAt === null || isIntegerFrom(now + 1, EXPIRY_END - 1, expiresAt)) return null;
  const rule = 'expiresAt must be null or whole milliseconds since the epoch, in the future and before the year 275760';
  return violation(rule, expiresAt);
}

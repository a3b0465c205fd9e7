import { type ApiKey, type Clock, type Digest, describeApiKey, generateApiKey, type RandomBytes } from './api-key.ts';
import type { Awaitable } from './awaitable.ts';
import { invalidRequest } from './domain-error.ts';
import type { KeyStore } from './key-store.ts';
import { quote } from './quote.ts';

/** A holder's name: 1 to 100 printable ASCII characters, neither beginning nor ending with a space. */
export const HOLDER_PATTERN: RegExp = /^(?=.{1,100}$)[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Keys expire before this moment, or never: those who list them must be able to read it as a date, which ends that year. */
const EXPIRY_END = Date.UTC(275_760, 0);

/** The fault of what is no holder's name, or null. */
export function holderViolation(holder: unknown): string | null {
  if (typeof holder === 'string' && HOLDER_PATTERN.test(holder)) return null;
  return `holder must be 1 to 100 printable ASCII characters without outer spaces, was ${quote(holder)}`;
}

/** A key that was just made. */
export interface IssuedKey {
  /** The key itself, to be handed to its holder now: it can't be had again. */
  readonly key: string;
  readonly record: ApiKey;
}

/** The use cases of those who administer API keys. */
export interface Keyring {
  /**
   * Makes a key.
   *
   * @param request.holder Whose key it is to be, see {@link HOLDER_PATTERN}.
   * @param request.expiresAt Whole milliseconds since the epoch, in the future but before the year 275760; null for a key that
   * stays.
   * @throws DomainError `invalid_request`, `service_unavailable`
   */
  issue(request: { holder: string; expiresAt: number | null }): Promise<IssuedKey>;

  /** All keys, the oldest first. @throws DomainError `service_unavailable` */
  list(): Awaitable<readonly ApiKey[]>;

  /**
   * Ends a key's life: within 10 seconds every process refuses it.
   *
   * @returns The key's record, or null for an unknown id.
   * @throws DomainError `service_unavailable`
   */
  revoke(id: string): Awaitable<ApiKey | null>;
}

/** @param keys Where the records are kept. */
export function createKeyring({
  keys,
  digest,
  randomBytes,
  clock,
}: {
  keys: KeyStore;
  digest: Digest;
  randomBytes: RandomBytes;
  clock: Clock;
}): Keyring {
  const now = () => Math.floor(clock());
  return {
    async issue({ holder, expiresAt }) {
      const createdAt = now();
      const violation = holderViolation(holder);
      const violations = violation === null ? [] : [violation];
      if (expiresAt !== null && !(Number.isInteger(expiresAt) && expiresAt > createdAt && expiresAt < EXPIRY_END)) {
        violations.push('the moment of expiry must be in the future, before the year 275760');
      }
      if (violations.length > 0) throw invalidRequest(violations);
      const key = generateApiKey(randomBytes);
      const record = describeApiKey(key, { holder, digest, createdAt, expiresAt });
      await keys.add(record);
      return { key, record };
    },
    list: () => keys.list(),
    revoke: (id) => keys.revoke(id, now()),
  };
}

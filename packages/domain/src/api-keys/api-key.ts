/** Secret scanners look for it. */
const PREFIX = 'anst_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 36;

/** The stored record of an API key. The key itself is not stored. */
export interface ApiKey {
  /** Names the key to administrators: the first 16 digits of the digest. */
  readonly id: string;
  /** SHA-256 of the key's characters, 64 lower-case hexadecimal digits. */
  readonly digest: string;
  /** The first 9 characters of the key, to recognise it by. */
  readonly visiblePrefix: string;
  /** Whose key it is. Several keys of one holder share their idempotency keys, so that a key can be rotated. */
  readonly holder: string;
  /** Whole milliseconds since the epoch, in the range of a Date, like all times here. */
  readonly createdAt: number;
  /** The key is rejected from this time on; null: never. */
  readonly expiresAt: number | null;
  /** When it was revoked; null: never. A revoked key is rejected even if a clock is behind this time. */
  readonly revokedAt: number | null;
  /** When it was last used, to a minute; null: not yet. */
  readonly lastUsedAt: number | null;
}

/** SHA-256 of a string's UTF-8 bytes as 64 lower-case hexadecimal digits. */
export type Digest = (text: string) => string;

/** Returns this many bytes from a cryptographically secure source. */
export type RandomBytes = (size: number) => Uint8Array;

/** Milliseconds since the epoch, now; a clock may be finer than that. */
export type Clock = () => number;

/** A new key: `anst_` and 36 random letters and digits (214 bits). */
export function generateApiKey(randomBytes: RandomBytes): string {
  let secret = '';
  while (secret.length < SECRET_LENGTH) {
    for (const byte of randomBytes(SECRET_LENGTH)) {
      // 248 is the largest multiple of 62 in a byte: bytes above it would favour the first characters.
      if (byte < 248 && secret.length < SECRET_LENGTH) secret += ALPHABET[byte % 62];
    }
  }
  return PREFIX + secret;
}

/** Whether a key has the form of a generated one. */
export function isApiKey(key: string): boolean {
  return /^anst_[0-9A-Za-z]{36}$/.test(key);
}

/**
 * The part of a key that may be shown to administrators, see {@link ApiKey.visiblePrefix}; null for a key that is not
 * well-formed, because it may be any secret.
 */
export function visiblePrefixOf(key: string): string | null {
  return isApiKey(key) ? key.slice(0, PREFIX.length + 4) : null;
}

/** The {@link ApiKey.id} of the key with this digest. */
export function apiKeyId(digest: string): string {
  return digest.slice(0, 16);
}

/** Whether a key is accepted at a time, in milliseconds since the epoch. */
export function isUsable({ expiresAt, revokedAt }: ApiKey, now: number): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt);
}

import { randomBytes } from 'node:crypto';
import { type ApiKeyRepository, allKeys, apiKeyId } from '@animal-store/domain/ports';
import { generateApiKey, isUsable } from '@animal-store/domain/transport';
import { sha256 } from './bearer.ts';
import { quotesViolation, readText } from './environment.ts';

/** Holders' names by the SHA-256 digests of their keys. */
export type ConfiguredKeys = ReadonlyMap<string, string>;

const DIGEST = /^sha256:([\da-f]{64})$/i;

/**
 * Reads API_KEYS: comma-separated keys of at least 16 visible ASCII characters, or `sha256:` and 64 hexadecimal digits.
 *
 * @param environment API_KEYS_FILE may name a file that holds them.
 * @param errors Takes a sentence for each error. It names an entry by its position: the entry may be a secret.
 */
export function readApiKeys(environment: NodeJS.ProcessEnv, errors: string[]): ConfiguredKeys {
  const { text, subject: variable } = readText(environment, { name: 'API_KEYS', secret: true }, errors);
  const entries = text === '' ? [] : text.split(',').map((entry) => entry.trim());
  for (const [index, entry] of entries.entries()) {
    const subject = `${variable} entry ${index + 1}`;
    const violation = violationOf(entry);
    const error = quotesViolation(subject, entry) ?? (violation && `${subject} ${violation}`);
    if (error !== null) errors.push(error);
  }
  const digests = entries.map((entry) => DIGEST.exec(entry)?.[1]?.toLowerCase() ?? sha256(entry));
  // The name of a holder is the same in every process and after a restart.
  return new Map(digests.map((digest) => [digest, `configured-${apiKeyId(digest)}`]));
}

/**
 * Generates a key that is valid while this process runs, for an application that has no other. Its holder is always the same, so
 * that idempotency keys work across restarts.
 */
export function createDevelopmentKey(): { readonly key: string; readonly configuredKeys: ConfiguredKeys } {
  const key = generateApiKey(randomBytes);
  return { key, configuredKeys: new Map([[sha256(key), 'development']]) };
}

/** Returns the error for the operator if no key is valid now, or null. In production nothing else makes a key. */
export async function missingKeys(
  configuredKeys: ConfiguredKeys,
  issuedKeys: ApiKeyRepository,
): Promise<string | null> {
  if (configuredKeys.size > 0) return null;
  const now = Date.now();
  let missing = 'there is no API key';
  for await (const key of allKeys(issuedKeys)) {
    if (isUsable(key, now)) return null;
    missing = 'no API key is valid, all are revoked or expired';
  }
  return `${missing}: set API_KEYS, or issue a key by animal-store keys issue --holder NAME`;
}

function violationOf(entry: string): string | null {
  if (/^sha256:/i.test(entry)) return DIGEST.test(entry) ? null : 'must be sha256: and 64 hexadecimal digits';
  if (/\s/.test(entry)) return 'contains white space: separate keys with commas';
  if (/^[\x21-\x7e]{16,}$/.test(entry)) return null;
  return `must be a key of at least 16 visible ASCII characters, its length is ${entry.length}`;
}

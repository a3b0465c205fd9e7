import { hash, randomBytes } from 'node:crypto';
import type { Digest } from '@animal-store/domain';
import { apiKeyId } from '@animal-store/domain/ports';
import { generateApiKey } from '@animal-store/domain/transport';
import { quotesViolation, subjectOf } from './environment.ts';

export const sha256: Digest = (text) => hash('sha256', text, 'hex');

/** Holders' names by the SHA-256 digests of their keys. */
export type ConfiguredKeys = ReadonlyMap<string, string>;

const DIGEST_PREFIX = /^sha256:/i;
const DIGEST = /^sha256:[\da-f]{64}$/i;

/**
 * Reads API_KEYS: comma-separated keys of at least 16 visible ASCII characters, or `sha256:` and 64 hexadecimal digits.
 *
 * @param errors Takes a sentence for each error. It names an entry by its position: the entry may be a secret.
 */
export function readApiKeys(environment: NodeJS.ProcessEnv, errors: string[]): ConfiguredKeys {
  const text = environment['API_KEYS'] ?? '';
  const entries = text === '' ? [] : text.split(',').map((entry) => entry.trim());
  for (const [index, entry] of entries.entries()) {
    const subject = `${subjectOf(environment, 'API_KEYS')} entry ${index + 1}`;
    const violation = violationOf(entry);
    const error = quotesViolation(subject, entry) ?? (violation === null ? null : `${subject} ${violation}`);
    if (error !== null) errors.push(error);
  }
  const digests = entries.map((entry) =>
    DIGEST.test(entry) ? entry.replace(DIGEST_PREFIX, '').toLowerCase() : sha256(entry),
  );
  // The name of a holder is the same in every process and after a restart.
  return new Map(digests.map((digest) => [digest, `configured-${apiKeyId(digest)}`]));
}

/** Generates a key that is valid while this process runs, for an application that has no other. */
export function createDevelopmentKey(): { readonly key: string; readonly configuredKeys: ConfiguredKeys } {
  const key = generateApiKey(randomBytes);
  return { key, configuredKeys: readApiKeys({ API_KEYS: key }, []) };
}

function violationOf(entry: string): string | null {
  if (DIGEST_PREFIX.test(entry)) return DIGEST.test(entry) ? null : 'must be sha256: and 64 hexadecimal digits';
  if (/\s/.test(entry)) return 'contains white space: separate keys with commas';
  if (/^[\x21-\x7e]{16,}$/.test(entry)) return null;
  return `must be a key of at least 16 visible ASCII characters, its length is ${entry.length}`;
}

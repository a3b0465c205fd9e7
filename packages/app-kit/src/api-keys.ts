import { randomBytes } from 'node:crypto';
import { apiKeyId } from '@animal-store/domain/ports';
import { generateApiKey } from '@animal-store/domain/transport';
import { sha256 } from './sha256.ts';

/** Holders' names by the SHA-256 digests of their keys. */
export type ConfiguredKeys = ReadonlyMap<string, string>;

const KEY = /^[\x21-\x7e]{16,}$/;
const DIGEST_PREFIX = /^sha256:/i;
const DIGEST = /^[\da-f]{64}$/i;
const IN_QUOTES = /^(["']).*\1$/s;
/** Two entries or more, of the characters that generated keys have, with a separator that API_KEYS does not know. */
const SEVERAL = /^[\w.~+/=:-]{16,}(?:[;\s]+[\w.~+/=:-]{16,})+;?$/;

/**
 * Reads API_KEYS: comma-separated keys of at least 16 visible ASCII characters, or `sha256:` and 64 hexadecimal digits.
 *
 * @param errors Takes a sentence for each error. It names an entry by its position: the entry may be a secret.
 */
export function readApiKeys(environment: NodeJS.ProcessEnv, errors: string[]): ConfiguredKeys {
  const text = environment['API_KEYS'] ?? '';
  const holders = new Map<string, string>();
  const entries = text === '' ? [] : text.split(',').map((entry) => entry.trim());
  for (const [index, entry] of entries.entries()) {
    const digest = digestOf(entry);
    if (digest === null) errors.push(`API_KEYS entry ${index + 1} ${violationOf(entry)}`);
    else holders.set(digest, configuredHolder(digest));
  }
  return holders;
}

/** Generates a key that is valid while this process runs, for an application that has no other. */
export function createDevelopmentKey(): { readonly key: string; readonly configuredKeys: ConfiguredKeys } {
  const key = generateApiKey(randomBytes);
  const digest = sha256(key);
  return { key, configuredKeys: new Map([[digest, configuredHolder(digest)]]) };
}

/** The name of the holder of a configured key: the same in every process and after a restart. */
function configuredHolder(digest: string): string {
  return `configured-${apiKeyId(digest)}`;
}

function digestOf(entry: string): string | null {
  // Quotes in an env file are part of the value, unless a shell reads it.
  if (IN_QUOTES.test(entry) || SEVERAL.test(entry)) return null;
  if (!DIGEST_PREFIX.test(entry)) return KEY.test(entry) ? sha256(entry) : null;
  const digest = entry.replace(DIGEST_PREFIX, '');
  return DIGEST.test(digest) ? digest.toLowerCase() : null;
}

function violationOf(entry: string): string {
  if (IN_QUOTES.test(entry)) return 'must be without quotes';
  if (SEVERAL.test(entry)) return 'looks like several: separate them with commas';
  if (DIGEST_PREFIX.test(entry)) return 'must be sha256: and 64 hexadecimal digits';
  return `must be a key of at least 16 visible ASCII characters, its length is ${entry.length}`;
}

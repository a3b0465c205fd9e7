import { apiKeyId } from '@animal-store/domain';
import { sha256 } from './sha256.ts';

/** What the service is told by its environment. */
export interface Configuration {
  readonly host: string;
  /** 0 to 65535; 0 means any free one. */
  readonly port: number;
  /** Begins with a slash, ends in the segment v1. */
  readonly basePath: string;
  readonly storage: { readonly kind: 'memory' } | { readonly kind: 'mongodb'; readonly url: string };
  /** Whether the service runs in production, where nothing is made up that should be configured. */
  readonly production: boolean;
  /** Holders' names by the SHA-256 digests of their keys. */
  readonly configuredKeys: ReadonlyMap<string, string>;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

/** A mistake in the environment. Its message names every mistake there is and holds no secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const STORAGES = ['memory', 'mongodb'] as const;
const SEGMENTS = /^(?:\/(?!\.{1,2}\/)[\w.~-]+)*\/v1$/;
const KEY = /^[\x21-\x7e]{16,}$/;
const DIGEST_PREFIX = 'sha256:';
const DIGEST = /^[\da-f]{64}$/i;

/**
 * Reads the environment, once. A variable that is empty is one that is not set.
 *
 * @throws ConfigurationError naming all mistakes.
 */
export function readConfiguration(environment: NodeJS.ProcessEnv): Configuration {
  const mistakes: string[] = [];

  /** The variable's value as `parse` has it, which returns null for a mistake. */
  function read<T>(name: string, fallback: T, parse: (given: string) => T | null, rule: string): T {
    const given = environment[name];
    if (given === undefined || given === '') return fallback;
    const value = parse(given);
    if (value === null) mistakes.push(`${name} must be ${rule}, was ${JSON.stringify(given)}`);
    return value ?? fallback;
  }
  const oneOf =
    <T extends string>(values: readonly T[]) =>
    (given: string): T | null =>
      values.find((value) => value === given) ?? null;

  const configuration: Configuration = {
    host: read('HOST', '127.0.0.1', (given) => (/^\S+$/.test(given) ? given : null), 'a host name or address'),
    port: read(
      'PORT',
      3000,
      (given) => (/^\d{1,5}$/.test(given) && Number(given) <= 65_535 ? Number(given) : null),
      'an integer from 0 to 65535',
    ),
    basePath: read(
      'BASE_PATH',
      '/v1',
      (given) => (SEGMENTS.test(given) ? given : null),
      'a path of letters, digits and ._~- that ends in the segment v1, like /v1 or /animals/v1',
    ),
    storage: storageOf(
      read('STORAGE', 'memory', oneOf(STORAGES), `one of ${STORAGES.join(', ')}`),
      environment['MONGODB_URL'] ?? '',
      mistakes,
    ),
    production: environment['NODE_ENV'] === 'production',
    configuredKeys: readKeys(environment['API_KEYS'] ?? '', mistakes),
    logLevel: read('LOG_LEVEL', 'info', oneOf(LOG_LEVELS), `one of ${LOG_LEVELS.join(', ')}`),
  };
  const { configuredKeys, production, storage } = configuration;
  if (production && configuredKeys.size === 0 && storage.kind === 'memory' && mistakes.length === 0) {
    mistakes.push('API_KEYS must be set where NODE_ENV is production: nobody could call the service');
  }
  if (mistakes.length > 0) throw new ConfigurationError(mistakes.join('; '));
  return configuration;
}

/** Whether the URL can be used is for the adapter to say. It is never repeated: it may hold a password. */
function storageOf(kind: (typeof STORAGES)[number], url: string, mistakes: string[]): Configuration['storage'] {
  if (kind === 'memory') return { kind };
  if (url === '') {
    mistakes.push('MONGODB_URL must be set where STORAGE is mongodb, as in mongodb://localhost:27017/animals');
  }
  return { kind, url };
}

/** Mistakes name an entry by its place: it may be a secret. */
function readKeys(given: string, mistakes: string[]): ReadonlyMap<string, string> {
  const holders = new Map<string, string>();
  const entries = given === '' ? [] : given.split(',').map((entry) => entry.trim());
  for (const [index, entry] of entries.entries()) {
    const digest = digestOf(entry);
    if (digest === null) {
      mistakes.push(
        `API_KEYS entry ${index + 1} must be ` +
          (entry.startsWith(DIGEST_PREFIX)
            ? 'sha256: and 64 hexadecimal digits'
            : `a key of at least 16 visible ASCII characters, has ${entry.length} characters`),
      );
    } else {
      holders.set(digest, configuredHolder(digest));
    }
  }
  return holders;
}

function digestOf(entry: string): string | null {
  if (!entry.startsWith(DIGEST_PREFIX)) return KEY.test(entry) ? sha256(entry) : null;
  const digest = entry.slice(DIGEST_PREFIX.length);
  return DIGEST.test(digest) ? digest.toLowerCase() : null;
}

/** The name of the holder of a key that is known by its digest alone: the same in every process and after a restart. */
export function configuredHolder(digest: string): string {
  return `configured-${apiKeyId(digest)}`;
}

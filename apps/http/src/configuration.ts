import { apiKeyId } from '@animal-store/domain/ports';
import { LOG_LEVELS, type LogLevel } from './observability/log.ts';
import { sha256 } from './sha256.ts';

/** What the service is told by its environment. */
export interface Configuration {
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly storage:
    | { readonly kind: 'memory' }
    | { readonly kind: 'mongodb'; readonly url: string }
    | { readonly kind: 'sqlite'; readonly file: string };
  /** Whether the service runs in production, where nothing is made up that should be configured. */
  readonly production: boolean;
  /** Holders' names by the SHA-256 digests of their keys. */
  readonly configuredKeys: ReadonlyMap<string, string>;
  readonly logLevel: LogLevel;
  /** Whether `/metrics` is served. */
  readonly metrics: boolean;
  /** Whether `/docs` is served. */
  readonly docs: boolean;
  /** Origins whose scripts may call the service; `*` for all. */
  readonly corsOrigins: ReadonlySet<string>;
  /** Requests that a holder may make in a minute; 0: any number. */
  readonly rateLimit: number;
  /** How long the service goes on serving once it is told to stop, in milliseconds. */
  readonly stopGrace: number;
  /** How long what is in flight may take after that, in milliseconds. */
  readonly stopDeadline: number;
  readonly maxConnections: number;
  /** How late the event loop may be, in milliseconds, before operations are refused once that lasts; 0: never. */
  readonly maxEventLoopDelay: number;
}

/** A mistake in the environment. Its message names every mistake there is and holds no secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** A variable of the environment. */
interface Variable<T> {
  /** What holds where the variable is not set, as its text. */
  readonly fallback: string;
  /** What a value must be. */
  readonly rule: string;
  /** null: not what the rule says. */
  readonly parse: (given: string) => T | null;
}

function integer(fallback: number, min: number, max: number, scale = 1): Variable<number> {
  return {
    fallback: String(fallback),
    rule: `an integer from ${min} to ${max}`,
    parse: (given) =>
      /^\d{1,9}$/.test(given) && Number(given) >= min && Number(given) <= max ? Number(given) * scale : null,
  };
}

function oneOf<const T extends string>(fallback: NoInfer<T>, values: readonly T[]): Variable<T> {
  return {
    fallback,
    rule: `one of ${values.join(', ')}`,
    parse: (given) => values.find((value) => value === given) ?? null,
  };
}

function matching(fallback: string, pattern: RegExp, rule: string): Variable<string> {
  return { fallback, rule, parse: (given) => (pattern.test(given) ? given : null) };
}

/** Whether a text is an origin as browsers send it (HTML, 7.1.1): in lower case, without a port that is the scheme's own. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

const origins: Variable<ReadonlySet<string>> = {
  fallback: '',
  rule: 'origins as browsers send them, like https://example.org, comma-separated, or *',
  parse(given) {
    const entries = given === '' ? [] : given.split(',').map((entry) => entry.trim());
    return entries.every((entry) => entry === '*' || isOrigin(entry)) ? new Set(entries) : null;
  },
};

const SECOND = 1_000;

/** Every variable that is read like any other. `API_KEYS` and `MONGODB_URL` hold secrets and are not repeated. */
export const VARIABLES = {
  PORT: integer(3000, 0, 65_535),
  HOST: matching('127.0.0.1', /^\S+$/, 'a host name or address'),
  BASE_PATH: matching(
    '/v1',
    /^(?:\/(?!\.{1,2}\/)[\w.~-]+)*\/v1$/,
    'a path of letters, digits and ._~- that ends in the segment v1, like /v1 or /animals/v1',
  ),
  STORAGE: oneOf('memory', ['memory', 'mongodb', 'sqlite']),
  LOG_LEVEL: oneOf('info', LOG_LEVELS),
  METRICS: oneOf('on', ['on', 'off']),
  DOCS: oneOf('on', ['on', 'off']),
  CORS_ORIGINS: origins,
  RATE_LIMIT: integer(0, 0, 1_000_000),
  STOP_GRACE_SECONDS: integer(0, 0, 300, SECOND),
  STOP_DEADLINE_SECONDS: integer(10, 1, 300, SECOND),
  MAX_CONNECTIONS: integer(10_000, 1, 1_000_000),
  MAX_EVENT_LOOP_DELAY_MS: integer(50, 0, 60_000),
} as const satisfies Record<string, Variable<unknown>>;

const KEY = /^[\x21-\x7e]{16,}$/;
const DIGEST_PREFIX = /^sha256:/i;
const DIGEST = /^[\da-f]{64}$/i;

/**
 * Reads the environment, once. A variable that is empty is one that is not set.
 *
 * @throws ConfigurationError naming all mistakes.
 */
export function readConfiguration(environment: NodeJS.ProcessEnv): Configuration {
  const mistakes: string[] = [];

  function read<K extends keyof typeof VARIABLES>(name: K) {
    type Value = NonNullable<ReturnType<(typeof VARIABLES)[K]['parse']>>;
    const { fallback, rule, parse } = VARIABLES[name] as unknown as Variable<Value>;
    const given = environment[name] || fallback;
    const value = parse(given);
    if (value === null) mistakes.push(`${name} must be ${rule}, was ${JSON.stringify(given)}`);
    return value ?? (parse(fallback) as Value);
  }

  const configuration: Configuration = {
    host: read('HOST'),
    port: read('PORT'),
    basePath: read('BASE_PATH'),
    storage: storageOf(read('STORAGE'), environment, mistakes),
    production: environment['NODE_ENV']?.toLowerCase() === 'production',
    configuredKeys: readKeys(environment['API_KEYS'] ?? '', mistakes),
    logLevel: read('LOG_LEVEL'),
    metrics: read('METRICS') === 'on',
    docs: read('DOCS') === 'on',
    corsOrigins: read('CORS_ORIGINS'),
    rateLimit: read('RATE_LIMIT'),
    stopGrace: read('STOP_GRACE_SECONDS'),
    stopDeadline: read('STOP_DEADLINE_SECONDS'),
    maxConnections: read('MAX_CONNECTIONS'),
    maxEventLoopDelay: read('MAX_EVENT_LOOP_DELAY_MS'),
  };
  const { configuredKeys, production, storage } = configuration;
  if (production && configuredKeys.size === 0 && storage.kind === 'memory' && mistakes.length === 0) {
    mistakes.push('API_KEYS must be set where NODE_ENV is production: nobody could call the service');
  }
  const named = ['MONGODB_URL', 'SQLITE_FILE'].find((name) => environment[name]);
  if (production && named !== undefined && !environment['STORAGE']) {
    mistakes.push(
      `STORAGE must be set where ${named} is and NODE_ENV is production: else animals would be kept in memory`,
    );
  }
  if (mistakes.length > 0) throw new ConfigurationError(mistakes.join('; '));
  return configuration;
}

/** Whether the URL or the file can be used is for the adapter to say. */
function storageOf(
  kind: Configuration['storage']['kind'],
  { MONGODB_URL: url = '', SQLITE_FILE: file = '' }: NodeJS.ProcessEnv,
  mistakes: string[],
): Configuration['storage'] {
  if (kind === 'mongodb' && url === '') {
    mistakes.push('MONGODB_URL must be set where STORAGE is mongodb, as in mongodb://localhost:27017/animals');
  }
  if (kind === 'sqlite' && file === ':memory:') {
    mistakes.push('SQLITE_FILE must name a file; STORAGE=memory keeps animals in memory');
  }
  if (kind === 'sqlite' && file === '') {
    mistakes.push('SQLITE_FILE must be set where STORAGE is sqlite, as in /var/lib/animal-store/animals.db');
  }
  switch (kind) {
    case 'memory':
      return { kind };
    case 'mongodb':
      return { kind, url };
    case 'sqlite':
      return { kind, file };
  }
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
          (DIGEST_PREFIX.test(entry)
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
  if (!DIGEST_PREFIX.test(entry)) return KEY.test(entry) ? sha256(entry) : null;
  const digest = entry.replace(DIGEST_PREFIX, '');
  return DIGEST.test(digest) ? digest.toLowerCase() : null;
}

/** The name of the holder of a key that is known by its digest alone: the same in every process and after a restart. */
export function configuredHolder(digest: string): string {
  return `configured-${apiKeyId(digest)}`;
}

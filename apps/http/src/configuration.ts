import {
  ADDRESS_VARIABLES,
  type ConfiguredKeys,
  integer,
  matching,
  oneOf,
  readApiKeys,
  readEnvironment,
  readStorageSettings,
  readVariables,
  STORAGES,
  type StorageSettings,
  type Storages,
  type Variable,
  variableNames,
} from '@animal-store/app-kit';
import type { RatePolicy } from '@animal-store/domain/ports';
import { LOG_LEVELS, type LogLevel } from '@animal-store/observability';

/** The settings of the service. Times are in milliseconds. */
export interface Configuration {
  readonly host: string;
  readonly port: number;
  /** Where the probes and the metrics are served; 0: at `port`. */
  readonly probePort: number;
  readonly basePath: string;
  /** The base address for clients, for the OpenAPI document; null: the base path on the host that serves the document. */
  readonly publicUrl: string | null;
  readonly storage: StorageSettings;
  /** In production nothing that should be configured is generated. */
  readonly production: boolean;
  readonly configuredKeys: ConfiguredKeys;
  readonly logLevel: LogLevel;
  /** Whether `/metrics` is served. */
  readonly metrics: boolean;
  /** Whether `/docs` is served. */
  readonly docs: boolean;
  /** Origins whose scripts may call the service; `*` for all. */
  readonly corsOrigins: ReadonlySet<string>;
  /** How many requests a holder of a key may make; null: any number. */
  readonly ratePolicy: RatePolicy | null;
  /** How long the service continues to accept connections after a signal to stop. */
  readonly stopGrace: number;
  /** How long requests in flight may take after that. */
  readonly stopDeadline: number;
  readonly maxConnections: number;
  /** How many proxies in front of the service add the address of the client to X-Forwarded-For. */
  readonly trustedProxies: number;
  /** The event-loop delay from which operations are shed once it lasts; 0: never. */
  readonly maxEventLoopDelay: number;
  /** Misspelled variables, a sentence each. */
  readonly warnings: readonly string[];
}

/** Whether a text is an origin as browsers send it (HTML, 7.1.1): in lower case, without the default port of its scheme. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

const origins: Variable<ReadonlySet<string>> = {
  fallback: '',
  rule: 'origins as browsers send them, like https://example.org, comma-separated, or * alone',
  parse(text) {
    const entries = text === '' ? [] : text.split(',').map((entry) => entry.trim());
    return text === '*' || entries.every(isOrigin) ? new Set(entries) : null;
  },
};

const nodeEnvironment: Variable<string> = {
  fallback: 'development',
  rule: 'one of development, production, test',
  parse: (text) => (/^(?:development|production|test)$/i.test(text) ? text.toLowerCase() : null),
};

const SECOND = 1_000;

/** The window of RATE_LIMIT. */
const WINDOW = 60 * SECOND;

/** The variables of this application. Those of the storages and `API_KEYS` are read by app-kit: every application has them. */
export const VARIABLES = {
  ...ADDRESS_VARIABLES,
  PROBE_PORT: integer(0, 0, 65_535),
  BASE_PATH: matching(
    '/v1',
    /^(?:\/(?!\.{1,2}\/)[\w.~-]+)*\/v1$/,
    'a path of letters, digits and ._~- that ends in the segment v1, like /v1 or /animals/v1',
  ),
  PUBLIC_URL: matching(
    '',
    /^(?:https?:\/\/[^\s/?#]+(?:\/[\w.~-]+)*\/v1)?$/,
    'an absolute URL that ends in the segment v1, like https://api.example.org/v1',
  ),
  LOG_LEVEL: oneOf('info', LOG_LEVELS),
  METRICS: oneOf('on', ['on', 'off']),
  DOCS: oneOf('on', ['on', 'off']),
  CORS_ORIGINS: origins,
  RATE_LIMIT: integer(0, 0, 1_000_000),
  STOP_GRACE_SECONDS: integer(5, 0, 300, SECOND),
  STOP_DEADLINE_SECONDS: integer(10, 1, 300, SECOND),
  MAX_CONNECTIONS: integer(10_000, 1, 1_000_000),
  MAX_EVENT_LOOP_DELAY_MS: integer(50, 0, 60_000),
  TRUST_PROXY: integer(0, 0, 10),
  NODE_ENV: nodeEnvironment,
} as const satisfies Record<string, Variable<unknown>>;

const OWN_NAMES = [...Object.keys(VARIABLES), 'API_KEYS'];

/** The name of every variable that is read. */
export const VARIABLE_NAMES: readonly string[] = variableNames(OWN_NAMES, STORAGES);

/**
 * Reads the environment, once. A variable that is empty counts as unset.
 *
 * @throws ConfigurationError naming all errors.
 */
export function readConfiguration(environment: NodeJS.ProcessEnv, storages: Storages = STORAGES): Configuration {
  const { settings, warnings } = readEnvironment(environment, storages, OWN_NAMES, (given, errors) =>
    readSettings(given, storages, errors),
  );
  return { ...settings, warnings };
}

function readSettings(
  environment: NodeJS.ProcessEnv,
  storages: Storages,
  errors: string[],
): Omit<Configuration, 'warnings'> {
  const values = readVariables(environment, VARIABLES, errors);
  const production = values.NODE_ENV === 'production';
  const storage = readStorageSettings(environment, storages, production ? 'if named' : 'allowed', errors);
  const configuredKeys = readApiKeys(environment, errors);
  if (values.PROBE_PORT !== 0 && values.PROBE_PORT === values.PORT) {
    errors.push(`PROBE_PORT must differ from PORT, both are ${values.PORT}`);
  }
  // A storage that outlives the process may hold keys that were issued: it is asked once it is available.
  if (production && configuredKeys.size === 0 && storage.adapter.variable === undefined && errors.length === 0) {
    errors.push('API_KEYS must be set if NODE_ENV is production');
  }
  return {
    host: values.HOST,
    port: values.PORT,
    probePort: values.PROBE_PORT,
    basePath: values.BASE_PATH,
    publicUrl: values.PUBLIC_URL || null,
    storage,
    production,
    configuredKeys,
    logLevel: values.LOG_LEVEL,
    metrics: values.METRICS === 'on',
    docs: values.DOCS === 'on',
    corsOrigins: values.CORS_ORIGINS,
    ratePolicy: values.RATE_LIMIT === 0 ? null : { limit: values.RATE_LIMIT, window: WINDOW },
    stopGrace: values.STOP_GRACE_SECONDS,
    stopDeadline: values.STOP_DEADLINE_SECONDS,
    maxConnections: values.MAX_CONNECTIONS,
    trustedProxies: values.TRUST_PROXY,
    maxEventLoopDelay: values.MAX_EVENT_LOOP_DELAY_MS,
  };
}

import {
  ADAPTERS,
  type Adapters,
  chooseStorage,
  integer,
  matching,
  oneOf,
  readApiKeys,
  readSettings,
  readVariables,
  type Variable,
} from '@animal-store/app-kit';
import { LOG_LEVELS } from './observability/log.ts';

/**
 * The origin of a URL as browsers send it (HTML, 7.1.1): in lower case, without the default port of its scheme, and with no `*`,
 * which a host of a URL may contain; null if the text has none.
 */
const originOf = (text: string) => (/^https?:[^*]+$/i.test(text) ? (URL.parse(text)?.origin ?? null) : null);

const entriesOf = (text: string) => (text === '' ? [] : text.split(',').map((entry) => entry.trim()));

const origins: Variable<ReadonlySet<string>> = {
  fallback: '',
  rule: 'origins like https://example.org, without a slash at the end, comma-separated, or * alone',
  parse(text) {
    const entries = entriesOf(text);
    return text === '*' || entries.every((entry) => originOf(entry) === entry) ? new Set(entries) : null;
  },
  detail(text) {
    const entries = entriesOf(text);
    const index = entries.findIndex((entry) => originOf(entry) !== entry);
    const origin = originOf(entries[index] ?? '');
    return `: entry ${index + 1} ${origin === null ? 'is none' : `must be ${origin}`}`;
  },
};

const nodeEnvironment: Variable<string> = {
  fallback: 'development',
  rule: 'one of development, production, test',
  parse: (text) => (/^(?:development|production|test)$/i.test(text) ? text.toLowerCase() : null),
};

/** The variables of this application, besides `API_KEYS` and those of the storages, which app-kit reads. */
export const VARIABLES = {
  PORT: integer(3000, 0, 65_535),
  HOST: matching('127.0.0.1', /^[^\s[\]/@]+$/, 'a host name or address'),
  BASE_PATH: matching(
    '/v1',
    /^(?:\/(?!\.{1,2}\/)[\w.~-]+)*\/v1$/,
    'a path of letters, digits and ._~- that ends in the segment v1, like /v1 or /animals/v1',
  ),
  LOG_LEVEL: oneOf('info', LOG_LEVELS),
  CORS_ORIGINS: origins,
  // Requests of each holder in a minute; 0: no limit.
  RATE_LIMIT: integer(0, 0, 1_000_000),
  STOP_DEADLINE_SECONDS: integer(10, 1, 300),
  MAX_CONNECTIONS: integer(10_000, 1, 1_000_000),
  TRUST_PROXY: integer(0, 0, 10),
  NODE_ENV: nodeEnvironment,
} as const satisfies Record<string, Variable<unknown>>;

/** The settings of the service: each variable by its name, and values of several variables. */
export type Configuration = ReturnType<typeof readConfiguration>;

/**
 * Reads the environment, once. A variable that is empty counts as unset.
 *
 * @throws ConfigurationError naming all errors.
 */
export function readConfiguration(environment: NodeJS.ProcessEnv, adapters: Adapters = ADAPTERS) {
  return readSettings((errors) => {
    const values = readVariables(environment, VARIABLES, errors);
    const production = values.NODE_ENV === 'production';
    const storage = chooseStorage(environment, adapters, errors);
    const configuredKeys = readApiKeys(environment, errors);
    // Other storages may hold keys that were issued: they are asked once they are available.
    const isInMemory = Object.hasOwn(adapters, storage.name) && storage.adapter.variable === undefined;
    if (production && isInMemory && environment['STORAGE'] && configuredKeys.size === 0) {
      errors.push('API_KEYS must be set if NODE_ENV is production');
    }
    return { ...values, production, storage, configuredKeys };
  });
}

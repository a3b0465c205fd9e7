import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import {
  ConfigurationError,
  createDevelopmentKey,
  findAdapters,
  misconfigurationOf,
  openStorage,
  readVersion,
  STORAGE_VARIABLES,
  systemReason,
  versionText,
} from '@animal-store/app-kit';
import type { Application, Run } from '@animal-store/app-kit/run-application';
import { compose, TOKENS } from './composition.ts';
import { type Configuration, readConfiguration, VARIABLES } from './configuration.ts';
import { createLog, type Log } from './observability/log.ts';
import { standardOutput } from './observability/output.ts';
import type { Phase } from './observability/readiness.ts';
import { type RunningServer, startServer } from './server/server.ts';
import { welcome } from './welcome.ts';

export const version: string = versionText(readVersion(process.env));

export const variables: Application['variables'] = {
  ...VARIABLES,
  ...STORAGE_VARIABLES,
  'API_KEYS, API_KEYS_FILE': {
    fallback: '',
    rule: 'keys or their digests, comma-separated, or a file that holds them',
  },
};

/** How long a stopping service serves as before in production, in milliseconds, so that load balancers notice its `/readyz`. */
export const GRACE = 5_000;

/** How long everything after the deadline of a stop may take, in milliseconds: storage and log. */
export const END_TIMEOUT = 7_000;

/** How long requests whose connections are closed may take to end and be logged, in milliseconds. */
const RECORD_TIMEOUT = 1_000;

/** How many files may be open besides connections: those of the storage and of Node.js. */
const OTHER_FILES = 500;

const DROPPED = {
  connections: 'connections are closed: there are as many as MAX_CONNECTIONS allows',
  requests: 'connections are closed: they sent too many requests without waiting for responses',
} as const;

/** Starts the service as its environment says. Resolves when its storage was checked. Throws ConfigurationError. */
export async function start({ onStop, endWithin }: Run): Promise<void> {
  const given = readConfiguration(process.env, await findAdapters(process.env));
  const { configuration, developmentKey } = withDevelopmentKey(given);
  const build = readVersion(process.env);
  const output = standardOutput();
  const isTerminal = isatty(1);
  // A stream of pino-pretty waits for a terminal that does not read.
  const format = isTerminal ? (await import('pino-pretty')).prettyFactory({ ignore: 'pid,hostname' }) : null;
  const formatted = format === null ? output : { write: (line: string) => output.write(format(line)) };
  const log = createLog(configuration.LOG_LEVEL, formatted);
  const { storage, description, warnings } = await openStorage(configuration.storage);
  let phase: Phase = 'starting';
  const container = compose({
    configuration,
    version: build,
    storage,
    log,
    droppedLines: output.dropped,
    phase: () => phase,
    clock: Date.now,
  });
  const { HOST: host, PORT: port } = configuration;
  const server = await startServer(container.resolve(TOKENS.listener), {
    host,
    port,
    maxConnections: connectionLimit(configuration.MAX_CONNECTIONS, log),
    reject: container.resolve(TOKENS.recorder).reject,
    onDrop: (reason) => log.warnThrottled(DROPPED[reason]),
  }).catch(async (cause) => {
    await storage.close();
    await output.close();
    throw new ConfigurationError(`can't listen at HOST, PORT ${port}: ${systemReason(cause)}`);
  });

  async function stop(grace: number, deadline: number, isFailedStart = false): Promise<void> {
    if (phase === 'stopping') return;
    phase = 'stopping';
    endWithin(grace + deadline + END_TIMEOUT);
    const connectionsClosed = await server.stop({ grace, deadline });
    await storage.close();
    // Calls of the storage have ended with it. A handler that hangs does not hold up the stop.
    const recorded = new AbortController();
    const timeout = sleep(RECORD_TIMEOUT, undefined, { signal: recorded.signal }).catch(() => {});
    await Promise.race([container.resolve(TOKENS.recorder).allRecorded(), timeout]);
    recorded.abort();
    if (!isFailedStart) log.info({ connectionsClosed }, 'stopped');
    // `process.exit` waits for a write that is blocked, SIGKILL does not.
    if (!(await output.close())) process.kill(process.pid, 'SIGKILL');
  }
  onStop((signal) => {
    log.info({ signal }, 'stopping');
    void stop(configuration.production ? GRACE : 0, configuration.STOP_DEADLINE_SECONDS * 1_000);
  });

  // The welcome says where pets are kept.
  const isWelcome = developmentKey !== null && configuration.storage.adapter.variable === undefined;
  if (!isWelcome) for (const warning of warnings) log.warn(warning);

  // The service also starts while its storage is unavailable. It ends if only a change of the settings helps.
  const check = async () => {
    const missing = await container.resolve(TOKENS.storageCheck).check();
    return missing === null ? null : new ConfigurationError(missing);
  };
  const problem = await check().catch((error) => misconfigurationOf(error, configuration.storage));
  if (phase !== 'starting') return;
  if (problem !== null) {
    void stop(0, 0, true);
    throw problem;
  }
  const url = originOf(server) + configuration.BASE_PATH;
  if (developmentKey === null) log.info({ url, storage: configuration.storage.name, ...build }, 'listening');
  if (developmentKey !== null || (isTerminal && !configuration.production))
    output.write(welcome({ url, key: developmentKey, storage: description, version: build.version }));
  output.flush();
  phase = 'serving';
}

/** How many connections may be open: as many as are wanted, or fewer if the process may not open so many files. */
function connectionLimit(wanted: number, log: Log): number {
  // Otherwise the report looks up the names of addresses.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: unknown } } };
  const openFiles = userLimits?.open_files.soft;
  if (typeof openFiles !== 'number' || openFiles >= wanted + OTHER_FILES) return wanted;
  const limit = Math.max(1, openFiles - OTHER_FILES);
  log.warn(`ulimit -n is ${openFiles}: only ${limit} connections, MAX_CONNECTIONS needs ${wanted + OTHER_FILES}`);
  return limit;
}

/** Where to call a server. One that listens at all addresses is called at localhost. */
function originOf({ address: { address, port } }: RunningServer): string {
  if (address === '0.0.0.0' || address === '::') return `http://localhost:${port}`;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** Outside production, a key is generated for this run if there is none. */
function withDevelopmentKey(configuration: Configuration) {
  if (configuration.configuredKeys.size > 0 || configuration.production) return { configuration, developmentKey: null };
  const { key, configuredKeys } = createDevelopmentKey();
  return { configuration: { ...configuration, configuredKeys }, developmentKey: key };
}

import { randomBytes } from 'node:crypto';
import { isatty } from 'node:tty';
import {
  ConfigurationError,
  configuredHolder,
  loadStorage,
  misconfigurationOf,
  sha256,
  storageWarnings,
} from '@animal-store/app-kit';
import type { Stop } from '@animal-store/app-kit/stop-signals';
import { generateApiKey, isUsable } from '@animal-store/domain/transport';
import { type DropReason, type RunningServer, startServer } from '@animal-store/http-server';
import { createLog, type Log, monitorStorage, openStandardOutput } from '@animal-store/observability';
import { compose, type Service } from './composition.ts';
import { type Configuration, readConfiguration } from './configuration.ts';
import { createRequestLog } from './observability/request-log.ts';
import { connectionLimit, openFilesLimit } from './open-files.ts';
import { startupMessage } from './startup-message.ts';

/** The exit code of a configuration error: restarting does not help. */
const EXIT_MISCONFIGURED = 2;

/** How many clients can be connected to the port of the probes at once. */
const PROBE_CONNECTIONS = 50;

/** How long probes in flight may take at the end, in milliseconds. */
const PROBES_DEADLINE = 100;

/** Errors of the system that say that the service can't listen at an address. */
const ADDRESS_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use; choose another PORT',
  EACCES: 'this user may not use the port; choose a PORT above 1023',
  EADDRNOTAVAIL: 'this machine does not have the address; correct HOST',
  EINVAL: 'the address is not complete (fe80::1 needs an interface, like fe80::1%eth0); correct HOST',
  EAFNOSUPPORT: 'this machine has no addresses of this family; correct HOST',
  ENOTFOUND: 'the name is unknown; correct HOST',
};

/**
 * Runs the service as its environment says, until it is stopped. A configuration error is one line on standard error, and
 * the process ends with 2.
 *
 * @param onListening Called with the function that stops the service, as soon as there is something to stop.
 */
export async function runService(onListening: (stop: Stop) => void): Promise<void> {
  try {
    await start(onListening);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    reportMisconfiguration(error.message);
  }
}

async function start(onListening: (stop: Stop) => void): Promise<void> {
  const output = openStandardOutput();
  const { configuration, developmentKey } = withKey(readConfiguration(process.env));
  const log = createLog(configuration.logLevel, { output, readable: isatty(1) });
  // Without a listener Node.js would open its debugger.
  if (configuration.production) process.on('SIGUSR1', () => log.warn('SIGUSR1 is ignored in production'));
  const storage = await loadStorage(configuration.storage);
  const service = compose({ configuration, storage, log, requestLog: createRequestLog(log) });
  const [server, probes] = await listen(service, configuration, log);

  let stopped: Promise<void> | null = null;
  const stop = (grace: number, deadline: number) => {
    stopped ??= stopOnce(grace, deadline);
    return stopped;
  };
  const stopOnce = async (grace: number, deadline: number) => {
    monitor.stop();
    service.beginStop();
    const connectionsClosed = await server.stop({ grace, deadline, probes });
    await service.close();
    await probes?.stop({ grace: 0, deadline: PROBES_DEADLINE });
    log.info('stopped', { connectionsClosed });
    await log.close();
  };
  onListening(async (signal) => {
    log.info('stopping', { signal });
    await stop(configuration.stopGrace, configuration.stopDeadline);
  });

  const url = originOf(server) + configuration.basePath;
  const warnings = [...configuration.warnings, ...storageWarnings(service.storage, configuration.storage)];
  for (const warning of warnings) log.warn(warning);
  const names = { storage: configuration.storage.name, probes: probes && originOf(probes) };
  if (developmentKey === null) log.info('listening', { url, ...names });
  else log.print(startupMessage({ url, key: developmentKey, storage: storage.description }));

  // Only now: a storage that is unavailable must not keep the service from starting.
  const monitor = monitorStorage({
    storage: service.storage,
    names: { storage: configuration.storage.name, at: service.storage.location },
    messages: {
      unavailable: 'the storage is unavailable: requests that need it are rejected with 503 until it is available',
      misconfigured: 'requests that need the storage are rejected with 503',
    },
    misconfiguration: (error) => misconfigurationOf(error, configuration.storage),
    findMisconfiguration: () => missingKeys(configuration, service),
    async onMisconfiguration(message) {
      reportMisconfiguration(message);
      await stop(0, 0);
    },
    onCheck: service.metrics.storageChecked,
    log,
  });
}

/** Without any key, outside production, one is generated for this run. */
function withKey(configuration: Configuration): { configuration: Configuration; developmentKey: string | null } {
  if (configuration.configuredKeys.size > 0 || configuration.production) return { configuration, developmentKey: null };
  const developmentKey = generateApiKey(randomBytes);
  const digest = sha256(developmentKey);
  const configuredKeys = new Map([[digest, configuredHolder(digest)]]);
  return { configuration: { ...configuration, configuredKeys }, developmentKey };
}

/** @returns The server of the interface and, if the probes have a port of their own, theirs. */
async function listen(
  { close, listener, requestMetrics, probeListener, renderRejection }: Service,
  { host, port, probePort, maxConnections: wanted }: Configuration,
  log: Log,
): Promise<[RunningServer, RunningServer?]> {
  const openFiles = openFilesLimit();
  const maxConnections = connectionLimit(wanted, openFiles);
  if (maxConnections < wanted) {
    log.warn('fewer connections than MAX_CONNECTIONS are accepted: raise the limit of open files (ulimit -n)', {
      connections: maxConnections,
      openFiles,
    });
  }
  const ports = [
    { variable: 'PORT', port, listener, maxConnections },
    { variable: 'PROBE_PORT', port: probePort, listener: probeListener, maxConnections: PROBE_CONNECTIONS },
  ];
  const onDrop = (reason: DropReason) => {
    requestMetrics.countDrop(reason);
    log.warnThrottled(DROP_WARNINGS[reason]);
  };
  const servers: RunningServer[] = [];
  for (const { variable, listener, ...options } of probePort === 0 ? ports.slice(0, 1) : ports) {
    try {
      servers.push(await startServer(listener, { host, renderRejection, onDrop, ...options }));
    } catch (error) {
      for (const server of servers) await server.stop({ grace: 0, deadline: 0 });
      await close();
      const reason = ADDRESS_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
      if (reason === undefined) throw error;
      throw new ConfigurationError(
        `can't listen at ${host}, port ${options.port}: ${reason.replace('PORT', variable)}`,
      );
    }
  }
  return servers as [RunningServer, RunningServer?];
}

const DROP_WARNINGS = {
  connections: `connections are dropped: there are as many as MAX_CONNECTIONS (at PROBE_PORT ${PROBE_CONNECTIONS}) or the limit of open files allows`,
  requests: 'connections are closed: they sent too many requests without waiting for responses',
} as const;

/** The error if no API key can be valid in production, or null. */
async function missingKeys(
  { configuredKeys, production, warnings }: Configuration,
  { storage }: Service,
): Promise<string | null> {
  if (!production || configuredKeys.size > 0) return null;
  const issued = await storage.keys.list();
  const now = Date.now();
  if (issued.some((key) => isUsable(key, now))) return null;
  const missing = issued.length === 0 ? 'no API key' : 'no API key that is valid, all are revoked or expired';
  const misspelled = warnings.filter((warning) => warning.includes('API_KEYS'));
  return [`there is ${missing}: set API_KEYS or issue a key`, ...misspelled].join('; ');
}

/** Where to call a server. One that listens at all addresses is called at localhost. */
function originOf({ address: { address, port } }: RunningServer): string {
  if (address === '0.0.0.0' || address === '::') return `http://localhost:${port}`;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function reportMisconfiguration(message: string): void {
  process.stderr.write(`animal-store: ${message}\n`);
  process.exitCode = EXIT_MISCONFIGURED;
}

import { isatty } from 'node:tty';
import { isUsable } from '@animal-store/domain/transport';
import { type Application, compose } from './composition.ts';
import { type Configuration, ConfigurationError, readConfiguration } from './configuration.ts';
import { createLog } from './observability/log.ts';
import { monitorStorage } from './observability/storage-monitor.ts';
import { type RunningServer, startServer } from './server/server.ts';
import { startupMessage } from './startup-message.ts';

/** What the process exits with where its environment is at fault: restarting it will not help. */
const EXIT_MISCONFIGURED = 2;

/** Errors of the system that say that an address can't be listened at. */
const ADDRESS_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use; choose another PORT',
  EACCES: 'this user may not use the port; choose a PORT above 1023',
  EADDRNOTAVAIL: 'this machine does not have the address; correct HOST',
  EINVAL: 'the address is not complete (fe80::1 needs an interface, like fe80::1%eth0); correct HOST',
  ENOTFOUND: 'the name is unknown; correct HOST',
};

/**
 * Runs the service as its environment says, until it is stopped. A mistake in the environment is one line on standard
 * error and makes the process end with 2.
 *
 * @param onListening Given what stops the service, to be called once, as soon as there is something to stop.
 */
export async function runService(onListening: (stop: (signal: NodeJS.Signals) => void) => void): Promise<void> {
  try {
    await start(onListening);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    refuse(error.message);
  }
}

async function start(onListening: (stop: (signal: NodeJS.Signals) => void) => void): Promise<void> {
  const configuration = readConfiguration(process.env);
  const { host, port, basePath } = configuration;
  const log = createLog(configuration.logLevel, { readable: isatty(1) });
  const application = await compose(configuration, log);
  const { app, developmentKey, observers, onUnexpectedError, onDrop } = application;

  let server: RunningServer;
  try {
    const { maxConnections } = configuration;
    server = await startServer(app, { host, port, maxConnections, observers, onUnexpectedError, onDrop });
  } catch (error) {
    await application.close();
    const reason = ADDRESS_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    throw new ConfigurationError(`can't listen at ${host}, port ${port}: ${reason}`);
  }

  const stopOnce = async (grace: number, deadline: number) => {
    check.stop();
    application.beginStop();
    const connectionsCut = await server.stop({ grace, deadline });
    await application.close();
    log.info('stopped', { connectionsCut });
    await log.close();
  };
  let stopped: Promise<void> | null = null;
  const stop = (grace: number, deadline: number) => {
    stopped ??= stopOnce(grace, deadline);
    return stopped;
  };
  onListening(async (signal) => {
    log.info('stopping', { signal });
    await stop(configuration.stopGrace, configuration.stopDeadline);
  });

  const url = `http://${reachable(server.address.address)}:${server.address.port}${basePath}`;
  const { kind } = configuration.storage;
  if (developmentKey === null) log.info('listening', { url, storage: kind });
  else log.print(startupMessage({ url, key: developmentKey, storage: kind }));

  // Only now: a storage that is unavailable must not keep the service from starting.
  const check = monitorStorage({
    storage: application.storage,
    names: { storage: kind, at: application.storageAddress },
    misconfiguration: application.misconfiguration,
    findMisconfiguration: () => mistakeInKeys(configuration, application),
    async onMisconfiguration(mistake) {
      refuse(mistake);
      await stop(0, 0);
    },
    onCheck: application.onStorageCheck,
    log,
  });
}

/** In production somebody must be able to call the service. */
async function mistakeInKeys(
  { configuredKeys, production }: Configuration,
  { storage }: Application,
): Promise<string | null> {
  if (!production || configuredKeys.size > 0) return null;
  const issued = await storage.keys.list();
  const now = Date.now();
  if (issued.some((key) => isUsable(key, now))) return null;
  const missing = issued.length === 0 ? 'no API key' : 'no API key that is valid, all are revoked or expired';
  return `there is ${missing}: set API_KEYS or issue one, since nobody could call the service`;
}

/** An address to call: a service that listens everywhere is called at home. */
function reachable(address: string): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return address.includes(':') ? `[${address}]` : address;
}

function refuse(mistake: string): void {
  process.stderr.write(`animal-store: ${mistake}\n`);
  process.exitCode = EXIT_MISCONFIGURED;
}

import { announcement } from './announcement.ts';
import { type Application, compose } from './composition.ts';
import { type Configuration, ConfigurationError, readConfiguration } from './configuration.ts';
import { createLog, type Log } from './log.ts';
import { type RunningServer, startServer } from './server.ts';

/** What the process exits with where its environment is at fault: restarting it will not help. */
const EXIT_MISCONFIGURED = 2;

/** Errors of the system that say that an address can't be listened at. */
const ADDRESS_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use; choose another PORT',
  EACCES: 'this user may not use the port; choose a PORT above 1023',
  EADDRNOTAVAIL: 'this machine does not have the address; correct HOST',
  ENOTFOUND: 'the name is unknown; correct HOST',
};

async function main(): Promise<void> {
  const configuration = readConfiguration(process.env);
  const { host, port, basePath } = configuration;
  const log = createLog(configuration.logLevel, { readable: process.stdout.isTTY });
  const application = await compose(configuration, log);
  const { app, developmentKey, watchers } = application;

  let server: RunningServer;
  try {
    const { maxConnections } = configuration;
    server = await startServer(app, { host, port, maxConnections, watchers, onFault: log.fault });
  } catch (error) {
    await application.close();
    const reason = ADDRESS_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    throw new ConfigurationError(`can't listen at ${host}, port ${port}: ${reason}`);
  }

  const stop = async (grace: number, deadline: number) => {
    application.beginStop();
    await server.stop({ grace, deadline });
    await application.close();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      log.info('stopping', { signal });
      await stop(configuration.stopGrace, configuration.stopDeadline);
      log.info('stopped');
      await log.close();
    });
  }

  const url = `http://${reachable(server.address.address)}:${server.address.port}${basePath}`;
  const { kind } = configuration.storage;
  if (developmentKey === null) log.info('listening', { url, storage: kind });
  else process.stdout.write(announcement({ url, key: developmentKey, storage: kind }));

  const mistake = await mistakeInStorage(configuration, application, log);
  if (mistake !== null) {
    await stop(0, 0);
    throw new ConfigurationError(mistake);
  }
}

/**
 * What only the storage can tell of the configuration: null where it has nothing against it, or can't be asked. It is
 * asked while the service serves already: a storage that is out of reach must not keep the service from starting.
 */
async function mistakeInStorage(
  { configuredKeys, production }: Configuration,
  { storage, isAccessRefused }: Application,
  log: Log,
): Promise<string | null> {
  try {
    await storage.ready();
    if (!production || configuredKeys.size > 0 || (await storage.keys.list()).length > 0) return null;
    return 'there is no API key: set API_KEYS or issue one, since nobody could call the service';
  } catch (error) {
    if (isAccessRefused(error)) return 'MONGODB_URL: the server refuses the user, the password or the rights';
    log.info('the storage is out of reach for now: requests that need it are answered with 503', { err: error });
    return null;
  }
}

/** An address to call: a service that listens everywhere is called at home. */
function reachable(address: string): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return address.includes(':') ? `[${address}]` : address;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  process.stderr.write(`animal-store: ${error.message}\n`);
  process.exitCode = EXIT_MISCONFIGURED;
}

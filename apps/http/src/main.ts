import { announcement } from './announcement.ts';
import { compose } from './composition.ts';
import { ConfigurationError, readConfiguration } from './configuration.ts';
import { createLog } from './log.ts';
import { type RunningServer, startServer } from './server.ts';

/** How long requests in flight may take once the service is told to stop, in milliseconds. */
const STOP_DEADLINE = 10_000;

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
  const log = createLog(configuration.logLevel);
  const { app, developmentKey, close } = compose(configuration, log);

  let server: RunningServer;
  try {
    server = await startServer(app, { host, port, onFault: log.fault });
  } catch (error) {
    const reason = ADDRESS_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    throw new ConfigurationError(`can't listen at ${host}, port ${port}: ${reason}`);
  }

  const url = `http://${reachable(server.address.address)}:${server.address.port}${basePath}`;
  if (developmentKey === null) log.info('listening', { url, storage: configuration.storage.kind });
  else process.stdout.write(announcement({ url, key: developmentKey }));

  const stop = async () => {
    await server.stop(STOP_DEADLINE);
    await close();
    log.info('stopped');
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
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

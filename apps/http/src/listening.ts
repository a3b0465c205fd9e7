import { addressError } from '@animal-store/app-kit';
import { type DropReason, type Listener, type RunningServer, startServer } from '@animal-store/http-server';
import type { Log } from '@animal-store/observability';
import type { ComposedService } from './composition.ts';
import type { Configuration } from './configuration.ts';
import { OPERATOR_MESSAGES } from './http/operator-messages.ts';
import { connectionLimit, openFilesLimit } from './open-files.ts';

/** How many clients can be connected to the port of the probes at once. */
const PROBE_CONNECTIONS = 50;

/**
 * Listens at the port of the interface and at that of the probes, if they have one.
 *
 * @returns The servers; the probes are undefined if they have no port of their own.
 * @throws ConfigurationError if the address can't be used. Then nothing listens.
 */
export async function listen(
  { listener, requestMetrics, probeListener, renderRejection }: ComposedService,
  { HOST: host, PORT: port, PROBE_PORT: probePort, MAX_CONNECTIONS: wanted }: Configuration,
  log: Log,
) {
  const openFiles = openFilesLimit();
  const maxConnections = connectionLimit(wanted, openFiles);
  if (maxConnections < wanted) {
    log.warn(OPERATOR_MESSAGES.fewerConnections, { connections: maxConnections, openFiles });
  }
  const common = {
    host,
    renderRejection,
    onDrop(reason: DropReason) {
      requestMetrics.countDrop(reason);
      log.warnThrottled(OPERATOR_MESSAGES.dropped[reason]);
    },
  };
  const listenAt = (each: Listener, at: number, most: number, variable: string) =>
    startServer(each, { ...common, port: at, maxConnections: most }).catch((error) => {
      throw addressError(error, host, at, variable);
    });
  // Probes first: until both listen, a signal ends the process at once, and no request may have been accepted then.
  const probes =
    probePort === 0 ? undefined : await listenAt(probeListener, probePort, PROBE_CONNECTIONS, 'PROBE_PORT');
  try {
    return { server: await listenAt(listener, port, maxConnections, 'PORT'), probes };
  } catch (error) {
    await probes?.stop({ grace: 0, deadline: 0 });
    throw error;
  }
}

/** Where to call a server. One that listens at all addresses is called at localhost. */
export function originOf({ address: { address, port } }: RunningServer): string {
  if (address === '0.0.0.0' || address === '::') return `http://localhost:${port}`;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

import { addressError } from '@animal-store/app-kit';
import { type DropReason, type RunningServer, startServer } from '@animal-store/http-server';
import type { Log } from '@animal-store/observability';
import type { ComposedService } from './composition.ts';
import type { Configuration } from './configuration.ts';
import { OPERATOR_MESSAGES } from './http/operator-messages.ts';
import { connectionLimit, openFilesLimit } from './open-files.ts';

/** How many clients can be connected to the port of the probes at once. */
const PROBE_CONNECTIONS = 50;

/** The servers of a service. */
export interface Listening {
  readonly server: RunningServer;
  /** Absent: the probes are served at the same port. */
  readonly probes?: RunningServer;
}

/**
 * Listens at the port of the interface and at that of the probes, if they have one.
 *
 * @throws ConfigurationError if the address can't be used. Then nothing listens.
 */
export async function listen(
  { listener, requestMetrics, probeListener, renderRejection }: ComposedService,
  { HOST: host, PORT: port, PROBE_PORT: probePort, MAX_CONNECTIONS: wanted }: Configuration,
  log: Log,
): Promise<Listening> {
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
  const server = await startServer(listener, { ...common, port, maxConnections }).catch((error) => {
    throw addressError(error, host, port);
  });
  if (probePort === 0) return { server };
  try {
    const options = { ...common, port: probePort, maxConnections: PROBE_CONNECTIONS };
    return { server, probes: await startServer(probeListener, options) };
  } catch (error) {
    await server.stop({ grace: 0, deadline: 0 });
    throw addressError(error, host, probePort, 'PROBE_PORT');
  }
}

/** Where to call a server. One that listens at all addresses is called at localhost. */
export function originOf({ address: { address, port } }: RunningServer): string {
  if (address === '0.0.0.0' || address === '::') return `http://localhost:${port}`;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

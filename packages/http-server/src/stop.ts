import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextPhase, setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/**
 * How long neither a connection may be opened nor a request arrive before the server stops listening, in milliseconds: longer
 * than the half second in which load balancers often check whether a server is ready.
 */
const QUIET = 750;

/** A server that listens. */
export interface RunningServer {
  readonly address: AddressInfo;

  /** When a connection was opened or a request arrived last, on the clock of `performance.now()`, in milliseconds. */
  readonly lastActivityAt: number;

  /**
   * Stops in three steps. During the grace the server still accepts connections, and each response closes its connection. The grace
   * ends early when no connection has been opened and no request has arrived for 0.75 s, at once if that has been so already and
   * no connection is open. Then the server stops listening, and closes idle connections. At the deadline it closes
   * the remaining connections.
   *
   * @param times.grace In milliseconds.
   * @param times.deadline How long requests may take after the grace, in milliseconds.
   * @param times.probes A server for health checks. While they arrive, the grace does not end early.
   * @returns How many connections were closed at the deadline.
   */
  stop(times: { grace: number; deadline: number; probes?: RunningServer | undefined }): Promise<number>;
}

/** @param server One that listens. */
export function runningServer(server: Server, connections: Connections): RunningServer {
  return {
    address: server.address() as AddressInfo,
    get lastActivityAt() {
      return connections.lastActivityAt;
    },
    async stop({ grace, deadline, probes }) {
      connections.beginStop();
      // A client that has a connection open may be about to open the next.
      if (connections.size > 0) connections.noteActivity();
      await untilQuiet(probes === undefined ? [connections] : [connections, probes], grace);
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      let dropped = 0;
      const timer = setTimeout(() => {
        dropped = connections.dropAll();
      }, deadline);
      // The requests of the last connections are on their way.
      await untilQuiet([connections], Math.min(deadline, QUIET));
      connections.closeIdle();
      await closed;
      clearTimeout(timer);
      return dropped;
    },
  };
}

/** @param max How long to wait at most, in milliseconds. */
async function untilQuiet(servers: readonly Pick<RunningServer, 'lastActivityAt'>[], max: number): Promise<void> {
  const end = performance.now() + max;
  for (;;) {
    // Timers run before Node.js accepts and reads what has arrived meanwhile.
    await nextPhase();
    const lastActivityAt = Math.max(...servers.map((server) => server.lastActivityAt));
    const wait = Math.min(end, lastActivityAt + QUIET) - performance.now();
    if (wait <= 0) return;
    await sleep(Math.ceil(wait));
  }
}

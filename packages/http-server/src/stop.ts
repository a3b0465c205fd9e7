import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextPhase, setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from './connections.ts';
import type { RunningServer } from './server.ts';

/**
 * The server stops listening after this time without a new connection or request, in milliseconds: longer than the half
 * second between the readiness checks of many load balancers.
 */
const QUIET = 750;

/** @param server One that listens. */
export function runningServer(server: Server, connections: Connections): RunningServer {
  return {
    address: server.address() as AddressInfo,
    get lastActivityAt() {
      return connections.lastActivityAt;
    },
    async stop({ grace, deadline, probes }) {
      connections.isStopping = true;
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
      connections.drain();
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

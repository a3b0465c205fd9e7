import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/**
 * How long neither a connection may be opened nor a request arrive before the server stops listening, in milliseconds: longer
 * than the half second in which load balancers often check whether a server is ready.
 */
const QUIET = 750;

/** A server that listens. */
export interface RunningServer {
  readonly address: AddressInfo;

  /**
   * Stops in three steps. During the grace the server still accepts connections, and each response closes its connection. The grace
   * ends early when no connection has been opened and no request has arrived for 0.75 s, at once if that has been so already and
   * no connection is open. Then the server stops listening, and closes idle connections. At the deadline it cuts what is left.
   *
   * @param times.grace In milliseconds.
   * @param times.deadline How long requests may take after the grace, in milliseconds.
   * @returns How many connections were cut.
   */
  stop(times: { grace: number; deadline: number }): Promise<number>;
}

/** @param server One that listens. */
export function runningServer(server: Server, connections: Connections): RunningServer {
  return {
    address: server.address() as AddressInfo,
    async stop({ grace, deadline }) {
      connections.beginStop();
      // A client that has a connection open may be about to open the next.
      if (connections.size > 0) connections.noteActivity();
      await untilQuiet(connections, grace);
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      let cutCount = 0;
      const timer = setTimeout(() => {
        cutCount = connections.cut();
      }, deadline);
      // The requests of the last connections are on their way.
      await untilQuiet(connections, Math.min(deadline, QUIET));
      connections.closeIdle();
      await closed;
      clearTimeout(timer);
      return cutCount;
    },
  };
}

/** @param max How long to wait at most, in milliseconds. */
async function untilQuiet(connections: Connections, max: number): Promise<void> {
  const end = performance.now() + max;
  for (;;) {
    const wait = Math.min(end, connections.lastActivityAt + QUIET) - performance.now();
    if (wait <= 0) return;
    await sleep(Math.ceil(wait));
  }
}

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A TCP proxy in front of a server, or of the nodes of a cluster. At first everything passes. */
export interface TcpProxy {
  /** `host:port` to connect to, one for each target. */
  readonly addresses: readonly [string, ...string[]];
  /** How many clients are connected. */
  connections(): number;
  /** How many of them have a connection on which nothing passes since {@link TcpProxy.passNew}. */
  silentConnections(): number;
  /**
   * Resolves once so many more chunks of bytes have passed, in either direction: 0 at once. Returns a function that resets the
   * connection on which the last one passed, and leaves the others open.
   */
  afterChunks(count: number): Promise<() => void>;
  /** From now on nothing passes in either direction. New connections are accepted and get no response. */
  swallow(): void;
  /** From now on requests pass and responses don't. */
  loseResponses(): void;
  /**
   * From now on responses pass later, in their order.
   *
   * @param milliseconds `@default 3_000`, longer than a call may take
   */
  delayResponses(milliseconds?: number): void;
  /** From now on requests on the open connections wait, also when their clients close them. New connections pass. */
  holdRequests(): void;
  /** Resets the connections of the clients whose requests wait. What they have sent still arrives. */
  resetWaiting(): void;
  /** Lets the requests pass that wait. */
  deliver(): void;
  /** Resets the open connections, and from now on each new one. */
  cut(): void;
  /** Lets everything through again. What was lost stays lost, and the open connections are closed. */
  pass(): void;
  /** Lets new connections through. On the open ones nothing passes any more, and they stay open. */
  passNew(): void;
  /** Closes the open connections, and stops listening. */
  close(): Promise<void>;
}

type Mode = 'pass' | 'swallow' | 'lose responses' | 'delay responses' | 'cut';

/** A server at `host:port`, or a function that says so for each connection. An IPv6 address has brackets. */
type Target = string | (() => string | Promise<string>);

const addressOf = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Starts a proxy on this machine. */
export async function startTcpProxy(...targets: readonly Target[]): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  /** The generation of each client. */
  const clients = new Map<Socket, number>();
  /** The calls of {@link TcpProxy.afterChunks} that wait, and for how many more. */
  const waiting = new Set<{ left: number; resolve(reset: () => void): void }>();
  /** Clients whose requests wait, and what these do. */
  const holding = new Set<Socket>();
  const held: (() => void)[] = [];
  let mode: Mode = 'pass';
  let delay = 0;
  /** Nothing passes on connections of earlier generations. */
  let generation = 0;

  function track(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  }

  function forward(from: Socket, to: Socket, passes: () => boolean, delays = () => false): void {
    const reset = () => {
      for (const socket of [from, to]) socket.resetAndDestroy();
    };
    let earlier = Promise.resolve();
    from.on('data', (data) => {
      if (!passes()) return;
      if (holding.has(from)) return void held.push(() => to.write(data));
      if (delays()) {
        const due = sleep(delay, null, { ref: false });
        earlier = earlier.then(() => due).then(() => void to.write(data));
      } else to.write(data);
      for (const each of waiting) if (--each.left === 0) each.resolve(reset);
    });
    from.on('close', () => {
      if (holding.has(from)) return void held.push(() => to.end());
      // A server that has vanished closes no connection either.
      if (passes()) to.destroy();
    });
  }

  async function connected(client: Socket, target: Target): Promise<void> {
    const own = generation;
    clients.set(client, own);
    track(client).on('close', () => clients.delete(client));
    if (mode === 'cut') client.resetAndDestroy();
    // Otherwise it would not notice that the client has closed the connection.
    else if (mode === 'swallow') client.resume();
    else {
      const { hostname, port } = new URL(`tcp://${typeof target === 'string' ? target : await target()}`);
      const upstream = track(connect(Number(port), hostname.replace(/^\[|\]$/g, '')));
      const delays = () => mode === 'delay responses';
      const responsesPass = () => (mode === 'pass' || delays()) && own === generation;
      const requestsPass = () => responsesPass() || mode === 'lose responses';
      forward(client, upstream, requestsPass);
      forward(upstream, client, responsesPass, delays);
    }
  }

  const servers = targets.map((target) => createServer((client) => connected(client, target)).listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));

  /** Ends the open connections, and changes the mode. */
  const change =
    (next: Mode, end: (socket: Socket) => void = () => {}) =>
    () => {
      mode = next;
      for (const socket of sockets) end(socket);
    };

  return {
    addresses: servers.map(addressOf) as [string, ...string[]],
    connections: () => clients.size,
    silentConnections: () => [...clients.values()].filter((own) => own < generation).length,
    afterChunks(count) {
      const { promise, resolve } = Promise.withResolvers<() => void>();
      if (count > 0) waiting.add({ left: count, resolve });
      else resolve(() => {});
      return promise;
    },
    swallow: change('swallow'),
    loseResponses: change('lose responses'),
    delayResponses(milliseconds = 3_000) {
      delay = milliseconds;
      mode = 'delay responses';
    },
    holdRequests() {
      for (const client of clients.keys()) holding.add(client);
    },
    resetWaiting() {
      for (const client of holding) client.resetAndDestroy();
    },
    deliver() {
      holding.clear();
      for (const pass of held.splice(0)) pass();
    },
    cut: change('cut', (socket) => socket.resetAndDestroy()),
    pass: change('pass', (socket) => socket.destroy()),
    passNew() {
      generation += 1;
      mode = 'pass';
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => once(server.close(), 'close')));
    },
  };
}

/**
 * Begins work, and disturbs it after so many chunks, or when it has ended.
 *
 * @param disturb Gets a reset of the connection of the last chunk, or null if fewer have passed, and the end of the work.
 */
export async function amid(
  proxy: TcpProxy,
  chunks: number,
  begin: () => Promise<unknown>,
  disturb: (reset: (() => void) | null, ended: Promise<unknown>) => unknown,
): Promise<void> {
  const passed = proxy.afterChunks(chunks);
  const ended = begin();
  const reset = await Promise.race([passed, ended.catch(() => {}).then(() => null)]);
  await disturb(reset, ended);
  await ended;
}

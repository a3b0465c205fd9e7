import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of a server, which can become a black hole. */
export interface TcpProxy {
  /** `host:port` to connect to. */
  readonly address: string;
  /** How many clients are connected. */
  connections(): Promise<number>;
  /** From now on nothing passes in either direction, and new connections are accepted and left alone. */
  swallow(): void;
  /** From now on requests pass and responses don't. */
  loseResponses(): void;
  /** Lets everything through again; what was lost stays lost, and the open connections are closed. */
  pass(): void;
  close(): Promise<void>;
}

/** @param target `host:port` of the server. */
export async function startProxy(target: string): Promise<TcpProxy> {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  let requestsPass = true;
  let responsesPass = true;

  function forward(from: Socket, to: Socket, passes: () => boolean): void {
    sockets.add(from);
    from.on('data', (data) => {
      if (passes()) to.write(data);
    });
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      // A server that has vanished closes no connection either.
      if (passes()) to.destroy();
    });
  }

  const server = createServer((client) => {
    if (!requestsPass) {
      sockets.add(client);
      client.on('error', () => {}).on('close', () => sockets.delete(client));
      return;
    }
    const upstream = connect(Number(port), host);
    forward(client, upstream, () => requestsPass);
    forward(upstream, client, () => responsesPass);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  function closeAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    swallow() {
      requestsPass = false;
      responsesPass = false;
    },
    loseResponses() {
      responsesPass = false;
    },
    pass() {
      closeAll();
      requestsPass = true;
      responsesPass = true;
    },
    close() {
      closeAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

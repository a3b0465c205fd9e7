import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that fails in each way that a client should retry, before it lets requests pass. */
export interface UnreliableProxy extends AsyncDisposable {
  /** The base URL of the service behind it. */
  readonly url: string;
  /** When each request arrived, on the monotonic clock, in milliseconds. */
  readonly arrivals: readonly number[];
}

const FAILURES = [
  // The service executes the request, and the response is lost.
  null,
  { status: 503, headers: { 'Retry-After': '1' } },
  { status: 429, headers: { 'Retry-After': '1' } },
  { status: 500, headers: {} },
];

/** Starts a proxy in front of the service at a base URL. */
export async function startUnreliableProxy(target: string): Promise<UnreliableProxy> {
  const arrivals: number[] = [];
  const server = createServer((request, response) => {
    arrivals.push(performance.now());
    const failure = FAILURES[arrivals.length - 1];
    if (failure) {
      request.resume();
      response.writeHead(failure.status, failure.headers).end('{}');
      return;
    }
    const { method, headers } = request;
    const forwarded = sendRequest(
      new URL(request.url as string, target),
      { method, headers, agent: false },
      (reply) => {
        if (failure === null) {
          reply.resume().on('end', () => request.socket.destroy());
        } else {
          response.writeHead(reply.statusCode as number, reply.headers);
          reply.pipe(response);
        }
      },
    );
    request.pipe(forwarded);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${new URL(target).pathname}`,
    arrivals,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

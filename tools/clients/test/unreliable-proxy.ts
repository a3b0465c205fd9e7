import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A proxy that fails in each way that a client should retry, before it lets requests pass. */
export interface UnreliableProxy extends AsyncDisposable {
  /** The base URL of the service behind it. */
  readonly url: string;
  /** When each request arrived, on the monotonic clock, in milliseconds. */
  readonly arrivals: readonly number[];
}

type Failure = () => 'lost' | 'cut' | { status: number; retryAfter?: string };

/** Functions, because a date is made when it is sent. The service has executed requests whose responses are lost or cut. */
const FAILURES: readonly Failure[] = [
  () => 'lost',
  () => 'cut',
  () => ({ status: 503, retryAfter: '1' }),
  () => ({ status: 429, retryAfter: '1' }),
  // The next second but one.
  () => ({ status: 503, retryAfter: new Date(Date.now() + 2_000).toUTCString() }),
  () => ({ status: 500, retryAfter: 'later' }),
  ...[502, 504].map((status) => () => ({ status })),
];

/** How many requests fail. */
export const FAILURE_COUNT = FAILURES.length;

/** Starts a proxy in front of the service at a base URL. */
export async function startUnreliableProxy(
  target: string,
  failures: readonly Failure[] = FAILURES,
): Promise<UnreliableProxy> {
  const arrivals: number[] = [];
  const server = createServer(async (request, response) => {
    arrivals.push(performance.now());
    const failure = failures[arrivals.length - 1]?.();
    const body = await text(request);
    if (typeof failure === 'object') {
      const { status, retryAfter } = failure;
      return response.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end('{}');
    }
    const { method = '', url = '', headers } = request;
    const { authorization = '', 'idempotency-key': key = '' } = headers as Record<string, string>;
    const forwarded = { authorization, 'idempotency-key': key, 'content-type': 'application/json' };
    const reply = await fetch(new URL(url, target), { method, headers: forwarded, body });
    if (failure === 'lost') return request.socket.destroy();
    const content = await reply.text();
    response.writeHead(reply.status, { 'content-type': 'application/json', 'content-length': content.length });
    if (failure === 'cut') return response.write(content.slice(0, 8), () => request.socket.destroy());
    return response.end(content);
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

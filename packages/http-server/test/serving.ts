import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  type IncomingRequest,
  type OutgoingResponse,
  type Rejection,
  type RunningServer,
  type ServerOptions,
  startServer,
  type TimeLimits,
} from '../src/index.ts';

/** A listener of three lines. */
const echo = (request: IncomingRequest, response: OutgoingResponse): void => void response.end(request.url);

/** A server that runs until the test ends. */
export interface Serving {
  readonly port: number;
  readonly rejections: readonly Rejection[];
  readonly drops: readonly string[];
  readonly running: RunningServer;
  stop: RunningServer['stop'];
}

export async function serve(
  listener: (request: IncomingRequest, response: OutgoingResponse) => void = echo,
  timeLimits: Partial<TimeLimits> = {},
  options: Partial<ServerOptions> = {},
): Promise<Serving> {
  const rejections: Rejection[] = [];
  const drops: string[] = [];
  const server = await startServer(listener, {
    host: '127.0.0.1',
    port: 0,
    maxConnections: 1_000,
    timeLimits,
    onDrop: (reason) => drops.push(reason),
    renderRejection(rejection) {
      rejections.push(rejection);
      return { headers: { 'Content-Type': 'text/plain' }, body: rejection.message };
    },
    ...options,
  });
  let stopped: Promise<number> | null = null;
  const stop: Serving['stop'] = (times) => {
    stopped ??= server.stop(times);
    return stopped;
  };
  onTestFinished(async () => void (await server.stop({ grace: 0, deadline: 0 })));
  return { port: server.address.port, rejections, drops, running: server, stop };
}

/** A client that sends bytes as it likes. */
export interface Client {
  readonly socket: Socket;
  readonly received: () => string;
  readonly statuses: () => number[];
  readonly errors: readonly Error[];
  /** Resolves when both sides are closed. */
  readonly closed: Promise<void>;
}

export function open(port: number, bytes = ''): Client {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setNoDelay(true);
  onTestFinished(() => void socket.destroy());
  const chunks: string[] = [];
  const errors: Error[] = [];
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => chunks.push(chunk));
  socket.on('error', (error) => errors.push(error));
  socket.on('end', () => socket.end());
  if (bytes !== '') socket.write(bytes, 'latin1');
  const received = () => chunks.join('');
  return {
    socket,
    received,
    statuses: () =>
      received()
        .match(/HTTP\/1\.1 \d+/g)
        ?.map((line) => Number(line.slice(9))) ?? [],
    errors,
    closed: new Promise((resolve) => socket.on('close', () => resolve())),
  };
}

export const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
export const post = (path: string, body: string, fields = '') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;

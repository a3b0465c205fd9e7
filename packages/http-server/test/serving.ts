import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import {
  type IncomingRequest,
  type OutgoingResponse,
  Rejection,
  type RunningServer,
  readBody,
  type ServerOptions,
  startServer,
  type TimeLimits,
} from '../src/index.ts';

/** A listener of three lines. */
const echo = (request: IncomingRequest, response: OutgoingResponse): void => void response.end(request.url);

/** A listener that responds after this time, in milliseconds. */
export const respondAfter = (time: number) => (_request: IncomingRequest, response: OutgoingResponse) =>
  void setTimeout(() => response.end(), time);

/** A listener that responds with this text. */
export const respondWith = (text: string) => (_request: IncomingRequest, response: OutgoingResponse) =>
  void response.end(text);

/** Reads the body and responds with 200 or the status of its rejection, after a time that is the query of the target. */
export async function respondToBody(request: IncomingRequest, response: OutgoingResponse): Promise<void> {
  await sleep(Number(request.url?.split('?')[1] ?? 0));
  const error = await readBody(request, 1e9).catch((thrown: Rejection) => thrown);
  response.writeHead(error instanceof Rejection ? error.status : 200).end();
}

/** A server that runs until the test ends. */
export interface Serving {
  readonly port: number;
  /** How many requests the listener has got. */
  readonly served: () => number;
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
  let served = 0;
  const counting: typeof listener = (request, response) => {
    served += 1;
    listener(request, response);
  };
  const server = await startServer(counting, {
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
  onTestFinished(async () => void (await server.stop({ grace: 0, deadline: 0 })));
  return { port: server.address.port, served: () => served, rejections, drops, running: server, stop: server.stop };
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

/** A client that sends bytes and does not read until its socket is resumed. */
export function openPaused(port: number, bytes = ''): Client {
  const client = open(port);
  client.socket.pause();
  client.socket.write(bytes);
  return client;
}

/** A client whose connection has been closed after it has sent these bytes. */
export async function exchange(port: number, bytes: string): Promise<Client> {
  const client = open(port, bytes);
  await client.closed;
  return client;
}

/** Sends bytes again and again until the connection is closed, or the client hears that it will be. */
export async function sendUntilClosed({ socket, closed }: Client, bytes: string, pause: number): Promise<void> {
  const sending = setInterval(() => socket.write(bytes), pause);
  onTestFinished(() => clearInterval(sending));
  socket.once('end', () => clearInterval(sending));
  await closed;
  clearInterval(sending);
}

export const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
export const TUNNEL = 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n';
export const post = (path: string, body: string, fields = '') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;

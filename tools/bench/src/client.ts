import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { HttpRequest } from './apis.ts';

/** How long a response may take, in milliseconds. */
const TIMEOUT = 60_000;

const NOTHING = Buffer.alloc(0);

type Outcome = 'done' | 'closed' | 'broken' | 'no response';

export interface ClientOptions {
  /** The connections are spread over them. */
  readonly urls: readonly string[];
  readonly connections: number;
  /** Called for each connection. @returns The next request of this connection as bytes, or null after its last one. */
  readonly requests: (connection: number) => () => Buffer | null;
  /** @param milliseconds From the request to the end of its response. */
  readonly onResponse: (status: number, milliseconds: number, body: () => string) => void;
  /** When the last requests may be sent, by `performance.now()`. */
  readonly until?: number;
  /** The time between two requests of a connection, in milliseconds; they are sent as soon as possible if it has passed. */
  readonly interval?: number;
}

/** A request as bytes. */
export function bytesOf(
  { method, path, body = '' }: HttpRequest,
  headers: Readonly<Record<string, string>>,
  host = '127.0.0.1',
): Buffer {
  const fields = { host, ...headers, ...(body && { 'content-length': String(Buffer.byteLength(body)) }) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/**
 * Sends requests, one after the other on each connection. A connection that breaks is opened again, unless it has had no
 * response.
 *
 * @returns How many requests got no response.
 */
export async function sendRequests(options: ClientOptions): Promise<number> {
  const { urls, connections, requests, interval = 0 } = options;
  const lost = Array.from({ length: connections }, async (_, index) => {
    const url = urls[index % urls.length] as string;
    const next = requests(index);
    // Not all at once.
    await setTimeout((interval * index) / connections);
    for (let count = 0; ; ) {
      const outcome = await sendOn(connect(Number(new URL(url).port), '127.0.0.1'), next, options);
      if (outcome === 'broken' || outcome === 'no response') count += 1;
      if (outcome === 'done' || outcome === 'no response') return count;
    }
  });
  return (await Promise.all(lost)).reduce((sum, count) => sum + count, 0);
}

/** @returns Why the connection has ended; `closed` is a response after which the server closes it. */
async function sendOn(
  socket: Socket,
  next: () => Buffer | null,
  { onResponse, until = Number.POSITIVE_INFINITY, interval = 0 }: ClientOptions,
): Promise<Outcome> {
  let outcome: Outcome = 'no response';
  let received = NOTHING;
  let sentAt = 0;

  function send(): void {
    const request = performance.now() < until ? next() : null;
    if (request === null) {
      outcome = 'done';
      socket.destroy();
    } else {
      sentAt = performance.now();
      socket.write(request);
    }
  }

  socket.setNoDelay(true).setTimeout(TIMEOUT, () => socket.destroy());
  socket.on('connect', send);
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const response = parse(received);
    if (response === null) return;
    const now = performance.now();
    const body = received.subarray(response.bodyAt);
    received = NOTHING;
    onResponse(response.status, now - sentAt, () => body.toString());
    outcome = response.closes ? 'closed' : 'broken';
    const wait = sentAt + interval - now;
    if (response.closes) socket.destroy();
    else if (wait > 0) setTimeout(wait).then(send);
    else send();
  });
  // Its event `close` follows.
  socket.on('error', () => {});
  await once(socket, 'close');
  return outcome;
}

/** @returns The response that these bytes hold, or null if it is not complete. There is never more than one. */
function parse(bytes: Buffer): { status: number; bodyAt: number; closes: boolean } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const bodyAt = headEnd + 4;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const isComplete =
    length === undefined
      ? bytes.toString('latin1', bytes.length - 5) === '0\r\n\r\n'
      : bytes.length >= bodyAt + Number(length);
  if (!isComplete) return null;
  return { status: Number(head.slice(9, 12)), bodyAt, closes: /\r\nconnection: *close/i.test(head) };
}

import { connect, type Socket } from 'node:net';
import type { HttpRequest } from './apis.ts';

/** How long a response may take, in milliseconds. */
const TIMEOUT = 60_000;

const NOTHING = Buffer.alloc(0);

export interface ClientOptions {
  /** The connections are spread over them. */
  readonly urls: readonly string[];
  readonly connections: number;
  /**
   * Called for each connection.
   *
   * @returns The next request of this connection as bytes, or null after its last one.
   */
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
 * Sends requests, one after the other on each connection. A connection that ends is opened again, unless its first request
 * got no response.
 *
 * @returns How many requests got no response.
 */
export async function sendRequests(options: ClientOptions): Promise<number> {
  const { urls, connections, requests, interval = 0 } = options;
  const lost = Array.from({ length: connections }, async (_, index) => {
    const port = Number(new URL(urls[index % urls.length] as string).port);
    // Not all connections send at the same time.
    const pace = { due: performance.now() + (interval * index) / connections };
    const next = requests(index);
    for (let count = 0; ; ) {
      const outcome = await sendOn(connect(port, '127.0.0.1'), pace, next, options);
      if (outcome === 'lost' || outcome === 'lost first') count += 1;
      if (outcome === 'done' || outcome === 'lost first') return count;
    }
  });
  return (await Promise.all(lost)).reduce((sum, count) => sum + count, 0);
}

/** @returns Why the connection has ended: `lost` if a request has no response, `closed` if none was outstanding. */
async function sendOn(
  socket: Socket,
  pace: { due: number },
  next: () => Buffer | null,
  { onResponse, until = Number.POSITIVE_INFINITY, interval = 0 }: ClientOptions,
): Promise<'done' | 'closed' | 'lost' | 'lost first'> {
  let received = NOTHING;
  let responses = 0;
  let sentAt: number | null = null;
  let isDone = false;
  let timer: NodeJS.Timeout | undefined;

  function send(): void {
    const now = performance.now();
    const request = now < until ? next() : null;
    if (request === null) {
      isDone = true;
      socket.destroy();
    } else {
      sentAt = now;
      pace.due = now + interval;
      socket.write(request);
    }
  }

  function sendWhenDue(): void {
    const wait = pace.due - performance.now();
    if (wait > 0) timer = setTimeout(send, wait);
    else send();
  }

  socket.setNoDelay(true).setTimeout(TIMEOUT, () => socket.destroy());
  socket.on('connect', sendWhenDue);
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const response = parse(received);
    if (response === null || sentAt === null) return;
    const milliseconds = performance.now() - sentAt;
    const body = received.subarray(response.bodyAt);
    received = NOTHING;
    responses += 1;
    sentAt = null;
    onResponse(response.status, milliseconds, () => body.toString());
    if (response.closes) socket.destroy();
    else sendWhenDue();
  });
  // Its event `close` follows.
  socket.on('error', () => {});
  await new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  clearTimeout(timer);
  if (isDone) return 'done';
  // Without any response: also if the connection could not be opened.
  if (responses === 0) return 'lost first';
  return sentAt === null ? 'closed' : 'lost';
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
      ? bytes.length >= bodyAt + 5 && bytes.toString('latin1', bytes.length - 5) === '0\r\n\r\n'
      : bytes.length >= bodyAt + Number(length);
  if (!isComplete) return null;
  return { status: Number(head.slice(9, 12)), bodyAt, closes: /\r\nconnection: *close/i.test(head) };
}

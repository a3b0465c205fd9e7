import { connect } from 'node:net';
import type { HttpRequest } from './workloads.ts';

/** How long a response may take, in milliseconds. */
const TIMEOUT = 60_000;

const NOTHING = Buffer.alloc(0);

export interface ClientOptions {
  readonly url: string;
  readonly connections: number;
  /** The next request as bytes, or null after the last one. */
  readonly next: () => Buffer | null;
  /** @param milliseconds From the request to the end of its response. */
  readonly onResponse: (status: number, milliseconds: number, body: Buffer) => void;
}

export function bytesOf({ method, path, body = '' }: HttpRequest, headers: Readonly<Record<string, string>>): Buffer {
  const fields = { host: '127.0.0.1', ...headers, ...(body && { 'content-length': Buffer.byteLength(body) }) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/**
 * Sends requests, one after the other on each connection. A connection that the server closes after a response is opened
 * again, one that ends without a response is not.
 *
 * @returns How many requests got no response.
 */
export async function sendRequests({ url, connections, next, onResponse }: ClientOptions): Promise<number> {
  const port = Number(new URL(url).port);
  let lost = 0;

  /**
   * Sends requests on a connection until it closes.
   *
   * @returns The request to go on with, or null after the last one; undefined if the latest one got no response.
   */
  function sendOnConnection(first: Buffer): Promise<Buffer | null | undefined> {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    let received = NOTHING;
    let sentAt = 0;
    /** Undefined while a response is due. */
    let following: Buffer | null | undefined;
    function send(request: Buffer): void {
      following = undefined;
      sentAt = performance.now();
      socket.write(request);
    }
    socket.setTimeout(TIMEOUT, () => socket.destroy());
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const response = parse(received);
      if (response === null) return;
      received = NOTHING;
      onResponse(response.status, performance.now() - sentAt, response.body);
      following = next();
      if (following === null || response.closes) socket.destroy();
      else send(following);
    });
    // Its event `close` follows.
    socket.on('error', () => {});
    send(first);
    return new Promise((resolve) => socket.on('close', () => resolve(following)));
  }

  async function sendInTurn(): Promise<void> {
    let request: Buffer | null | undefined = next();
    while (request) request = await sendOnConnection(request);
    if (request === undefined) lost += 1;
  }
  await Promise.all(Array.from({ length: connections }, sendInTurn));
  return lost;
}

/** @returns The response that these bytes hold, or null if it is not complete. There is never more than one. */
function parse(bytes: Buffer) {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const body = bytes.subarray(headEnd + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const isComplete =
    length === undefined ? body.toString('latin1', body.length - 5) === '0\r\n\r\n' : body.length >= Number(length);
  if (!isComplete) return null;
  return { status: Number(head.slice(9, 12)), body, closes: /\r\nconnection: *close/i.test(head) };
}

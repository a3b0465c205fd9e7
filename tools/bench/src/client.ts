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
  async function sendOnOne(): Promise<void> {
    let connection = open(port);
    for (let request = next(); request !== null; request = next()) {
      if (connection.isClosed()) connection = open(port);
      const sentAt = performance.now();
      const response = await connection.exchange(request);
      if (response === null) {
        lost += 1;
        break;
      }
      onResponse(response.status, performance.now() - sentAt, response.body);
    }
    connection.close();
  }
  await Promise.all(Array.from({ length: connections }, sendOnOne));
  return lost;
}

interface Response {
  readonly status: number;
  readonly body: Buffer;
  /** Whether the server closes the connection. */
  readonly closes: boolean;
}

function open(port: number) {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let received = NOTHING;
  let deliver: (response: Response | null) => void = () => {};
  socket.setTimeout(TIMEOUT, () => socket.destroy());
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const response = parse(received);
    if (response === null) return;
    received = NOTHING;
    if (response.closes) socket.destroy();
    deliver(response);
  });
  socket.on('close', () => deliver(null));
  // Its event `close` follows.
  socket.on('error', () => {});
  return {
    isClosed: () => socket.destroyed,
    /** Sends a request. The result is null if the connection ends before its response. */
    exchange(request: Buffer): Promise<Response | null> {
      return new Promise((resolve) => {
        deliver = resolve;
        socket.write(request);
      });
    },
    close: () => void socket.destroy(),
  };
}

/** @returns The response that these bytes hold, or null if it is not complete. There is never more than one. */
function parse(bytes: Buffer): Response | null {
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

import { IncomingMessage, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { BODY_IS_INCOMPLETE, BODY_IS_TOO_LARGE, type HttpError, invalidRequest } from '../app/errors.ts';
import { BODY_MAX_BYTES, CLIENT_MESSAGES } from '../app/messages.ts';

/** How many chunks a body that is kept may have: each costs more than its bytes. A connection with more is closed. */
const CHUNKS_MAX = 1_000;

/** How long a body is discarded, in milliseconds, and how many bytes of it. */
const DISCARD_TIMEOUT = 2_000;
const DISCARD_MAX_BYTES = 16 * 1024 * 1024;

const BAD_HOST = invalidRequest(CLIENT_MESSAGES.badHost);
const BAD_TARGET = invalidRequest(CLIENT_MESSAGES.badTarget);

/** uri-host [":" port], or nothing (RFC 9110, section 7.2; RFC 3986, section 3.2), without addresses of later versions. */
const HOST = /^(?:\[([\da-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** A target in origin form, or in absolute form with a host (RFC 9112, section 3.2; RFC 9110, section 4.2). */
const TARGET = /^(?:https?:\/\/(?:[^/?#]*@)?[^:/?#]|\/)[^\\#]*$/i;

export type NodeResponse = ServerResponse<NodeRequest>;

/**
 * A request as `createServer` makes it. Its handler reads the body, or responds without it; the server rejects a body that the
 * parser can't read, and discards the rest before a response that closes the connection.
 */
export class NodeRequest extends IncomingMessage {
  /** Sends `100 Continue`; null unless the client waits for it before it sends the body. */
  sendContinue: (() => void) | null = null;
  /** Why the parser can't read the rest of the body; null: it can. */
  #rejection: HttpError | null = null;
  /** Ends what reads or discards the body; null: nothing does. */
  #endReading: ((error: HttpError) => void) | null = null;

  get clientAddress(): string | null {
    return this.socket.remoteAddress ?? null;
  }

  /** As in `Incoming`. */
  header(name: string): string | undefined {
    // `normalizeTarget` clears that of `headers`.
    if (name === 'host') return this.headersDistinct['host']?.[0];
    return this.headers[name] as string | undefined;
  }

  /**
   * Checks the Host field and the target, and normalizes both: the adapter for Hono parses a URL of them, no part of which a
   * handler reads but the path and the query. Needs `joinDuplicateHeaders`: a repeated Host field, joined with a comma and a
   * space, is malformed.
   *
   * @returns The rejection for a Host field that is missing (allowed in HTTP/1.0: load balancers probe without it), repeated or
   * malformed, or for a target that is neither a path nor a URL with a host (RFC 9112, section 3.2); null if both are valid.
   */
  normalizeTarget(): HttpError | null {
    const { host } = this.headers;
    if (host === undefined && this.httpVersion !== '1.0') return BAD_HOST;
    const [matched, address] = HOST.exec(host ?? '') ?? [];
    if (matched === undefined || (address !== undefined && !isIPv6(address))) return BAD_HOST;
    this.headers.host = '';
    const target = this.url ?? '';
    if (!TARGET.test(target)) return BAD_TARGET;
    if (target.startsWith('/')) return null;
    const url = URL.parse(target);
    if (url === null) return BAD_TARGET;
    this.url = url.pathname + url.search;
    return null;
  }

  /** As in `Incoming`. */
  async readBody(): Promise<Buffer> {
    // Absent if the body is chunked.
    const declared = Number(this.headers['content-length'] ?? BODY_MAX_BYTES);
    if (this.#rejection !== null) throw this.#rejection;
    if (declared > BODY_MAX_BYTES) throw BODY_IS_TOO_LARGE;
    // No body was declared.
    if (this.readableEnded) return Buffer.alloc(0);
    if (this.destroyed) throw BODY_IS_INCOMPLETE;
    this.sendContinue?.();
    this.sendContinue = null;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#endReading = reject;
    // Copy into one buffer: thousands of one-byte chunk objects cost 100 times their bytes.
    const body = Buffer.allocUnsafe(declared);
    let length = 0;
    let chunks = 0;
    const keep = (chunk: Buffer) => {
      chunks += 1;
      if (chunks > CHUNKS_MAX) return void this.destroy();
      if (length + chunk.length <= body.length) {
        length += chunk.copy(body, length);
        return;
      }
      // Without a listener Node discards the rest.
      this.off('data', keep);
      reject(BODY_IS_TOO_LARGE);
    };
    const end = () => {
      if (this.readableEnded) resolve(body.subarray(0, length));
      else reject(BODY_IS_INCOMPLETE);
    };
    this.on('data', keep);
    for (const event of ['end', 'error', 'close']) this.on(event, end);
    return promise;
  }

  /** Rejects the body, whether its reading has begun or not: the parser can't read the rest. */
  rejectBody(error: HttpError): void {
    this.#rejection = error;
    this.#endReading?.(error);
  }

  /**
   * Resolves to a result after the rest of the body was read and discarded, if the response closes the connection: otherwise the
   * system resets the connection, and the client may lose the response (RFC 9112, section 9.6). That takes at most
   * {@link DISCARD_TIMEOUT} or {@link DISCARD_MAX_BYTES}.
   */
  async afterBody<T>(response: NodeResponse, result: T | Promise<T>): Promise<T> {
    const value = await result;
    if (this.complete || this.destroyed || this.#rejection !== null) return value;
    const closes = response.getHeader('connection') === 'close';
    const awaitsContinue = this.sendContinue !== null;
    // Node closes the connection if the client got no 100 Continue. A client that waits for it sends nothing.
    if (awaitsContinue ? this.readableLength === 0 : !closes) return value;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endReading = () => resolve();
    const timer = setTimeout(resolve, DISCARD_TIMEOUT);
    let bytes = 0;
    this.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DISCARD_MAX_BYTES) resolve();
    });
    for (const event of ['end', 'close']) this.once(event, () => resolve());
    await promise;
    clearTimeout(timer);
    return value;
  }
}

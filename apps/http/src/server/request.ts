import { IncomingMessage, type ServerResponse } from 'node:http';
import { BODY_IS_INCOMPLETE, BODY_IS_TOO_LARGE, HttpError } from '../app/errors.ts';
import { BODY_MAX_BYTES } from '../app/messages.ts';

/** How many chunks a body that is kept may have: each costs more than its bytes. A connection with more is closed. */
const CHUNKS_MAX = 1_000;

const HOSTLESS = /^https?:\/\/\//;

/** Whether a Host field names a host, with or without a port, or is empty. Two fields are joined with a comma and a space. */
const isHost = (field: string) => field === '' || (/^[^\s/?#@\\]+$/.test(field) && URL.canParse(`http://${field}`));

export type NodeResponse = ServerResponse<NodeRequest>;

/** A request as `createServer` makes it, which handlers read as `IncomingRequest`. */
export class NodeRequest extends IncomingMessage {
  get clientAddress(): string | null {
    return this.socket.remoteAddress ?? null;
  }

  /** As in `IncomingRequest`. */
  header(name: string): string | undefined {
    return this.headers[name] as string | undefined;
  }

  /**
   * Whether it has one Host field, which is valid whatever the form of the target (RFC 9112, section 3.2; load balancers probe
   * without one in HTTP/1.0), and its target is not a URL without a host (RFC 9110, section 4.2.1).
   */
  get namesHost(): boolean {
    const { host } = this.headers;
    if (host === undefined) return this.httpVersion === '1.0' && !HOSTLESS.test(this.url ?? '');
    // @hono/node-server checks the field behind which a target is a path.
    return this.url?.[0] === '/' || (isHost(host) && !HOSTLESS.test(this.url ?? ''));
  }

  /** As in `IncomingRequest`. */
  async readBody(): Promise<Buffer> {
    // Absent if the body is chunked.
    const declared = Number(this.headers['content-length'] ?? BODY_MAX_BYTES);
    if (declared > BODY_MAX_BYTES) throw BODY_IS_TOO_LARGE;
    // No body was declared.
    if (this.readableEnded) return Buffer.alloc(0);
    if (this.destroyed) throw this.#bodyError;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
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
      else reject(this.#bodyError);
    };
    this.on('data', keep);
    for (const event of ['end', 'error', 'close']) this.on(event, end);
    return promise;
  }

  /** Ends a body that is incomplete with an error for its readers; the connection stays open for the response. */
  rejectBody(error: HttpError): void {
    if (this.complete || this.destroyed) return;
    // Without a listener the error would end the process.
    this.on('error', () => {});
    this.destroy(error);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Node's own closes the connection.
    if (error instanceof HttpError) callback(error);
    else super._destroy(error, callback);
  }

  get #bodyError(): Error {
    return this.errored instanceof HttpError ? this.errored : BODY_IS_INCOMPLETE;
  }
}

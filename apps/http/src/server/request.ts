import { IncomingMessage, type ServerResponse } from 'node:http';
import { BODY_IS_INCOMPLETE, BODY_IS_TOO_LARGE } from '../app/errors.ts';
import { BODY_MAX_BYTES } from '../app/messages.ts';

/** How many chunks a body that is kept may have: each costs more than its bytes. A connection with more is closed. */
const CHUNKS_MAX = 1_000;

export type NodeResponse = ServerResponse<NodeRequest>;

/** A request as `createServer` makes it, which handlers read as `Incoming`. */
export class NodeRequest extends IncomingMessage {
  get clientAddress(): string | null {
    return this.socket.remoteAddress ?? null;
  }

  /** As in `Incoming`. */
  header(name: string): string | undefined {
    return this.headers[name] as string | undefined;
  }

  /**
   * Whether it has a Host field (RFC 9112, section 3.2; load balancers probe without one in HTTP/1.0), and its target is not a
   * URL without a host (RFC 9110, section 4.2.1).
   */
  get namesHost(): boolean {
    return (this.headers.host !== undefined || this.httpVersion === '1.0') && !/^https?:\/\/\//.test(this.url ?? '');
  }

  /** As in `Incoming`. */
  get bodyUsed(): boolean {
    return this.readableFlowing !== null;
  }

  /** As in `Incoming`. */
  async readBody(): Promise<Buffer> {
    // Absent if the body is chunked.
    const declared = Number(this.headers['content-length'] ?? BODY_MAX_BYTES);
    if (declared > BODY_MAX_BYTES) throw BODY_IS_TOO_LARGE;
    // No body was declared.
    if (this.readableEnded) return Buffer.alloc(0);
    if (this.destroyed) throw BODY_IS_INCOMPLETE;
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
      else reject(BODY_IS_INCOMPLETE);
    };
    this.on('data', keep);
    for (const event of ['end', 'error', 'close']) this.on(event, end);
    return promise;
  }
}

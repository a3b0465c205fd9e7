import { IncomingMessage, type ServerResponse } from 'node:http';
import { bodyIsIncomplete, bodyIsTooLarge, type HttpError } from '../app/errors.ts';
import { BODY_MAX_BYTES } from '../app/messages.ts';

/** How many chunks a body that is kept may have: each costs more than its bytes. A connection with more is closed. */
const CHUNKS_MAX = 1_000;

/** How long a body is discarded, in milliseconds, and how many bytes of it. */
const DISCARD_TIMEOUT = 2_000;
const DISCARD_MAX_BYTES = 16 * 1024 * 1024;

/** The address of a client, an IPv4 address without the prefix of IPv6; null if the client is gone. */
export function addressOf({ remoteAddress }: { readonly remoteAddress?: string | undefined }): string | null {
  return remoteAddress?.replace(/^::ffff:(?=\d+\.)/i, '') ?? null;
}

/** A request as `createServer` makes it, whose body is read or discarded within limits. */
export class NodeRequest extends IncomingMessage {
  #response: ServerResponse<NodeRequest> | null = null;
  #expectsContinue = false;
  #rejection: HttpError | null = null;
  #reject: ((error: HttpError) => void) | null = null;

  /** @param expectsContinue Whether the client may send the body only after `100 Continue`. */
  begin(response: ServerResponse<NodeRequest>, expectsContinue: boolean): void {
    this.#response = response;
    this.#expectsContinue = expectsContinue;
  }

  get clientAddress(): string | null {
    return addressOf(this.socket);
  }

  /** The value of a header field, by its lower-case name; those of repeated fields are joined with a comma and a space. */
  header(name: string): string | undefined {
    return this.headers[name] as string | undefined;
  }

  /** Whether the header section declares a body (RFC 9112, section 6.3). */
  get hasBody(): boolean {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = this.headers;
    return coding !== undefined || length !== '0';
  }

  /** Rejects the body, whether its reading has begun or not: the parser can't read the rest. */
  rejectBody(error: HttpError): void {
    this.#rejection = error;
    this.#reject?.(error);
  }

  /**
   * Reads the body, of which no more than {@link BODY_MAX_BYTES} are kept.
   *
   * @throws HttpError `payload_too_large`; `invalid_request` if the body is malformed, late or cut off.
   */
  readBody(): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    // Absent if the body is chunked.
    const declared = Number(this.headers['content-length'] ?? BODY_MAX_BYTES);
    if (this.#rejection !== null) reject(this.#rejection);
    else if (declared > BODY_MAX_BYTES) reject(bodyIsTooLarge());
    // No body was declared.
    else if (this.readableEnded) resolve(Buffer.alloc(0));
    else if (this.destroyed) reject(bodyIsIncomplete());
    else this.#receive(Buffer.allocUnsafe(declared), resolve, reject);
    return promise;
  }

  #receive(body: Buffer, resolve: (body: Buffer) => void, reject: (error: HttpError) => void): void {
    this.#reject = reject;
    if (this.#expectsContinue) this.#response?.writeContinue();
    this.#expectsContinue = false;
    let length = 0;
    let chunks = 0;
    // Copy into one buffer: thousands of one-byte chunk objects cost 100 times their bytes.
    const keep = (chunk: Buffer) => {
      chunks += 1;
      if (chunks > CHUNKS_MAX) return void this.destroy();
      if (length + chunk.length <= body.length) {
        length += chunk.copy(body, length);
        return;
      }
      // Without a listener Node discards the rest.
      this.off('data', keep);
      reject(bodyIsTooLarge());
    };
    const rejectIncomplete = () => {
      if (!this.readableEnded) reject(bodyIsIncomplete());
    };
    this.on('data', keep);
    this.on('end', () => resolve(body.subarray(0, length)));
    this.on('error', rejectIncomplete);
    this.on('close', rejectIncomplete);
  }

  /**
   * Reads and discards the rest of the body before a response that closes the connection: otherwise the system
   * resets the connection, and the client may lose the response (RFC 9112, section 9.6). Resolves after
   * {@link DISCARD_TIMEOUT} or {@link DISCARD_MAX_BYTES} at the latest.
   */
  async discardBody(): Promise<void> {
    if (!this.hasBody || this.complete || this.destroyed || this.#rejection !== null) return;
    // Node closes the connection if the client got no 100 Continue. A client that waits for it sends nothing.
    if (this.#expectsContinue ? this.readableLength === 0 : this.#response?.getHeader('connection') !== 'close') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, DISCARD_TIMEOUT);
    let bytes = 0;
    this.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DISCARD_MAX_BYTES) resolve();
    });
    for (const event of ['end', 'close']) this.once(event, () => resolve());
    await promise;
    clearTimeout(timer);
  }
}

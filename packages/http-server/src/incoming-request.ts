import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Reading } from './reading.ts';
import { INCOMPLETE_BODY, Rejection } from './rejection.ts';
import { CHUNKS_BEFORE_YIELD } from './size-limits.ts';

const HEAD_END = '\r\n\r\n';

/** Gets the body of a request: its chunks, and then its end or the reason why it is incomplete. */
export interface BodyReceiver {
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  /** @param reason 400 for a body that is malformed or ends too early, 408 for one that arrives too late. */
  onFailure(reason: Rejection): void;
}

/** A request. Its stream fails with a {@link Rejection} if the body is malformed or too late. */
export class IncomingRequest extends IncomingMessage {
  /** The response that asks for the body, if the client waits for that. */
  #continueResponse: ServerResponse | null = null;
  #rejection: Rejection | null = null;
  #receiver: BodyReceiver | null = null;
  #reading!: Reading;
  #chunks = 0;
  /**
   * The number of bytes of its connection up to its end, or up to the end of its header section if the body comes in chunks.
   * NaN if that is unknown, null if it asks for no other protocol.
   */
  #end: number | null = null;

  /** Called before the body arrives. */
  attach(reading: Reading): void {
    this.#reading = reading;
  }

  /** Why the server rejects the request, if its body is malformed or late. */
  get rejection(): Rejection | null {
    return this.#rejection;
  }

  /** Whether the client holds the body back until it is asked for it (RFC 9110, section 10.1.1). */
  get awaitsContinue(): boolean {
    return this.#continueResponse !== null;
  }

  /** Whether the request has a body that has not arrived completely. */
  get isBodyIncomplete(): boolean {
    const { headers } = this;
    return !this.complete && ((headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined);
  }

  /** Whether the body has a receiver that waits for the rest of it. */
  get isBeingRead(): boolean {
    return this.#receiver !== null;
  }

  /** Whether bytes after the request may be lost, see {@link noteUpgrade}. */
  get mayHaveLostBytes(): boolean {
    return this.#end !== null && this.#end !== this.socket.bytesRead;
  }

  /**
   * Node's parser drops what follows a request with `Connection: Upgrade` in the same packet. This is known not to have
   * happened only if the connection has brought no byte after the request: java.net.http begins each connection with one
   * that asks for HTTP/2, and sends nothing more until its response.
   */
  noteUpgrade(): void {
    const { headers, socket } = this;
    const { parser } = socket as Socket & { parser: { getCurrentBuffer?(): Buffer } };
    const packet = parser.getCurrentBuffer?.();
    // A body in chunks counts as empty: if a byte of it has arrived, that is behind this end; if none has, it is incomplete.
    this.#end =
      packet?.length === socket.bytesRead
        ? packet.indexOf(HEAD_END) + HEAD_END.length + Number(headers['content-length'] ?? 0)
        : Number.NaN;
  }

  /** Has the client asked for the body with `100 Continue` as soon as the body is read. */
  continueOnRead(response: ServerResponse): void {
    this.#continueResponse = response;
  }

  /**
   * Passes the body to a receiver as it is parsed, past the stream, whose events cost a tenth of the CPU time of a small request.
   */
  receive(receiver: BodyReceiver): void {
    if (this.destroyed && !this.complete) {
      receiver.onFailure(reasonOf(this.errored));
      return;
    }
    // Node 26 reads one chunk at a time, Node 24 all of them.
    for (let arrived: Buffer | null = this.read(); arrived !== null; arrived = this.read()) receiver.onChunk(arrived);
    if (this.complete) receiver.onEnd();
    else this.#receiver = receiver;
  }

  /** Ends the stream of the body with an error. The connection stays open for the response. */
  reject(rejection: Rejection): void {
    this.#rejection = rejection;
    this.destroy(rejection);
  }

  /** Node's parser calls this for each chunk of the body, and with null at its end. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const receiver = this.#receiver;
    // If the body is not read, Node stops reading when its buffer is full, and yielding would resume that.
    if (receiver !== null || this.readableFlowing === true) this.#countChunk();
    if (receiver === null) return super.push(chunk, encoding);
    if (chunk !== null) {
      receiver.onChunk(chunk);
      return true;
    }
    this.#receiver = null;
    receiver.onEnd();
    // A stream closes only if it is read to its end.
    this.resume();
    return super.push(null);
  }

  #countChunk(): void {
    this.#chunks += 1;
    if (this.#chunks % CHUNKS_BEFORE_YIELD === 0) this.#reading.yieldToOthers();
  }

  override _read(size: number): void {
    if (this.#continueResponse !== null) {
      // After the response Node reads the rest of the body.
      if (!this.#continueResponse.headersSent) this.#continueResponse.writeContinue();
      this.#continueResponse = null;
    }
    super._read(size);
  }

  /** Called when the client has disconnected, and by {@link reject}, for which the connection has to stay open. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#receiver?.onFailure(reasonOf(error));
    this.#receiver = null;
    // Node's own method closes the connection.
    if (this.#rejection === null) super._destroy(error, callback);
    // An error without a listener would end the process.
    else callback(this.listenerCount('error') === 0 ? null : error);
  }
}

function reasonOf(error: Error | null): Rejection {
  return error instanceof Rejection ? error : INCOMPLETE_BODY;
}

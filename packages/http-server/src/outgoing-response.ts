import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { IncomingRequest } from './incoming-request.ts';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** The connection of a response that may be its last one. */
export interface ResponseConnection {
  /** Whether the connection closes after a response whose header section is not written yet. */
  closesAfter(response: OutgoingResponse): boolean;
  /** Serves no further request. */
  stopAccepting(): void;
  /**
   * Closes this side, and the other when its client has had time to read all responses.
   *
   * @param last What is still to be written.
   * @param onEnd Called when that is written.
   */
  close(last?: string, onEnd?: () => void): void;
}

/**
 * A response that may be the last one of its connection. Node destroys the socket as soon as the last response has ended, which
 * resets the connection if bytes are unread: so a last response is written, and its connection closed, without Node's `end`.
 */
export class OutgoingResponse extends ServerResponse<IncomingRequest> {
  #connection!: ResponseConnection;
  #isLast = false;
  #hasEnded = false;

  /** Called before the listener gets the response. */
  attach(connection: ResponseConnection): void {
    this.#connection = connection;
  }

  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    if (!this.headersSent) {
      if (this.#connection.closesAfter(this)) {
        this.#isLast = true;
        this.#connection.stopAccepting();
        this.setHeader('Connection', 'close');
      } else if (this.req.awaitsContinue) {
        // Otherwise Node closes the connection after a response that no `100 Continue` came before.
        this.setHeader('Connection', 'keep-alive');
      }
    }
    return super.writeHead(status, reason as string, headers);
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (!this.headersSent && this.#connection.closesAfter(this)) {
      this.#declareLength(chunk, encoding);
      this.writeHead(this.statusCode);
    }
    if (!this.#isLast) return super.end(chunk, encoding as BufferEncoding, callback as () => void);
    if (this.#hasEnded || this.socket === null) return this;
    this.#hasEnded = true;
    this.socket.cork();
    // Not left to write(): a response to HEAD has no body to write.
    this.flushHeaders();
    if (hasBytes(chunk)) this.write(chunk, encoding as BufferEncoding);
    // Chunks that are corked wait outside the socket: the listener corks them, and Node 26 those of the same tick.
    while (this.writableCorked > 0) this.uncork();
    const onEnd = [chunk, encoding, callback].find((argument) => typeof argument === 'function');
    this.#connection.close(this.chunkedEncoding ? '0\r\n\r\n' : '', onEnd as (() => void) | undefined);
    return this;
  }

  /** As Node's `end` does for a response whose header section is not written yet. */
  #declareLength(chunk: unknown, encoding: unknown): void {
    const isDeclared = this.hasHeader('Content-Length') || this.hasHeader('Transfer-Encoding');
    if (isDeclared || this.statusCode === 204 || this.statusCode === 304) return;
    this.setHeader('Content-Length', hasBytes(chunk) ? Buffer.byteLength(chunk, encoding as BufferEncoding) : 0);
  }
}

function hasBytes(chunk: unknown): chunk is string | Uint8Array {
  return (typeof chunk === 'string' || chunk instanceof Uint8Array) && chunk.length > 0;
}

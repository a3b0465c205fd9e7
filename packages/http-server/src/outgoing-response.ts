import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { connectionOf } from './connection.ts';
import type { IncomingRequest } from './incoming-request.ts';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * A response that may be the last one of its connection. Node destroys the socket as soon as the last response has ended, which
 * resets the connection if bytes are unread: so a last response is written, and its connection closed, without Node's `end`.
 */
export class OutgoingResponse extends ServerResponse<IncomingRequest> {
  readonly #connection = connectionOf(this.req.socket);
  #isLast = false;
  #hasEnded = false;

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

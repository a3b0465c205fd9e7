import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { IncomingRequest } from './incoming-request.ts';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** The connection of a response that may be its last one. */
export interface ResponseConnection {
  /** Whether the connection closes after a response whose header section is not written yet. */
  closesAfter(response: OutgoingResponse): boolean;
  /** Serves no further request. */
  stopAccepting(): void;
  /** Closes this side, and the other when its client has had time to read all responses. */
  close(): void;
}

/** The listener for the end of a response with which Node destroys the socket of the last one. */
const CLOSES_CONNECTION = 'bound resOnFinish';

/**
 * A response that may be the last one of its connection. Node destroys the socket as soon as the last response is written, which
 * resets the connection if bytes are unread: so the connection closes itself.
 */
export class OutgoingResponse extends ServerResponse<IncomingRequest> {
  #connection!: ResponseConnection;
  #isLast = false;

  /** Called before the listener gets the response. */
  attach(connection: ResponseConnection): void {
    this.#connection = connection;
  }

  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    // The state of the connection may have changed since the first call. Node throws an error.
    if (this.headersSent) return super.writeHead(status, reason as string, headers);
    const closes = this.#connection.closesAfter(this);
    if (closes) this.setHeader('Connection', 'close');
    // Otherwise Node closes the connection after a response that no `100 Continue` came before.
    else if (this.req.awaitsContinue) this.setHeader('Connection', 'keep-alive');
    super.writeHead(status, reason as string, headers);
    // A listener may have written `Connection: close` by itself.
    if (closes || (this as { _last?: boolean })._last) this.#becomeLast();
    return this;
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    const hasEnded = this.writableEnded;
    super.end(chunk, encoding as BufferEncoding, callback as () => void);
    if (this.#isLast && !hasEnded) this.#connection.close();
    return this;
  }

  #becomeLast(): void {
    this.#isLast = true;
    this.#connection.stopAccepting();
    for (const listener of this.listeners('finish') as (() => void)[]) {
      if (listener.name === CLOSES_CONNECTION) this.off('finish', listener);
    }
  }
}

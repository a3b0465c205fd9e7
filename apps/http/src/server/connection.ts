import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpError } from '../app/errors.ts';
import type { NodeRequest } from './request.ts';

/** How many requests of a connection may have no response. The connection of another is closed. */
const UNANSWERED_MAX = 50;

/** How long a connection is open after a rejection, in milliseconds: its client may still be sending. */
const LINGER_TIMEOUT = 2_000;

/**
 * What happens to the next request of a connection:
 * - `serving`: it is served after those before it.
 * - `ending`: it is ignored, because the response to the last one closes the connection.
 * - `rejected`: there is none: the bytes before it were no HTTP. Their rejection is the last response.
 */
type Stage = 'serving' | 'ending' | 'rejected';

/** A request that waits for its response, or for its turn. */
interface Waiting {
  readonly response: ServerResponse<NodeRequest>;
  readonly serve: () => void;
}

/**
 * One connection. Its requests are served one after the other (RFC 9112, section 9.3.2), the next when the response before was
 * handed to the system: a client that reads nothing holds one response.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #onIdle: () => void;
  #stage: Stage = 'serving';
  /** The first one is being served. */
  #waiting: Waiting[] = [];
  /** The response to the last request, also when it was sent: the body of the request may still be arriving. */
  #last: ServerResponse<NodeRequest> | null = null;

  /** @param onIdle Called when no request waits any more. */
  constructor(socket: Socket, onIdle: () => void) {
    this.#socket = socket;
    this.#onIdle = onIdle;
    // Node leaves the socket of a CONNECT without a listener: a reset would end the process.
    socket.on('error', () => {});
  }

  /**
   * Calls `serve` when it is the request's turn.
   *
   * @param closes Whether the response closes the connection.
   * @returns false if the connection has too many requests.
   */
  accept(response: ServerResponse<NodeRequest>, closes: boolean, serve: () => void): boolean {
    if (this.#stage !== 'serving') return true;
    if (this.#waiting.length === UNANSWERED_MAX) return false;
    this.#waiting.push({ response, serve });
    this.#last = response;
    if (closes) this.end();
    // It follows `finish`.
    response.once('close', () => {
      this.#waiting.shift();
      const [next] = this.#waiting;
      if (next === undefined) this.#onIdle();
      else if (!this.#socket.destroyed) next.serve();
    });
    if (this.#waiting.length === 1) serve();
    return true;
  }

  /** The response to the last request closes the connection, unless it has begun. */
  end(): void {
    if (this.#last === null || this.#last.headersSent) return;
    this.#stage = 'ending';
    this.#last.setHeader('connection', 'close');
  }

  /** Rejects what the parser can't read: the rest of a body, by the response to its request, or bytes behind all requests. */
  reject(error: HttpError, bytes: () => string): void {
    const last = this.#last;
    if (last?.req.complete === false) {
      if (last.headersSent || !this.#socket.writable) return void this.#socket.destroy();
      this.end();
      last.req.rejectBody(error);
      return;
    }
    // The parser fails again with each packet that follows. They are read: a reset could overtake the rejection.
    if (this.#stage !== 'serving') return;
    if (!this.#socket.writable) return void this.#socket.destroy();
    this.#stage = 'rejected';
    const respond = () => {
      this.#socket.end(bytes());
      setTimeout(() => this.#socket.destroy(), LINGER_TIMEOUT).unref();
    };
    if (this.#waiting.length === 0) respond();
    else last?.once('close', respond);
  }
}

import type { Socket } from 'node:net';
import type { HttpError } from '../app/errors.ts';
import type { NodeResponse } from './request.ts';

/** How many requests of a connection may have no response. A connection with more is closed. */
const WAITING_MAX = 50;

/** How long a connection is open after a rejection, in milliseconds: its client may still be sending. */
const LINGER_TIMEOUT = 2_000;

/**
 * What happens to the next request of a connection:
 * - `serving`: it is served after those before it.
 * - `ending`: it is ignored, because the response to the request before it closes the connection.
 * - `rejected`: it is ignored, because bytes before it were not HTTP. Their rejection is the last response.
 */
type Stage = 'serving' | 'ending' | 'rejected';

/**
 * One connection. Its requests are served one after the other (RFC 9112, section 9.3.2), the next when the response before was
 * handed to the system: a client that reads nothing holds one response.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #onIdle: () => void;
  #stage: Stage = 'serving';
  /** Serve the requests that have no response yet. The first one is being served. */
  #unfinished: (() => void)[] = [];
  /** The response to the last request, even if it was sent: the body of the request may still be arriving. */
  #last: NodeResponse | null = null;

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
  accept(response: NodeResponse, closes: boolean, serve: () => void): boolean {
    if (this.#stage !== 'serving') return true;
    if (this.#unfinished.length === WAITING_MAX) return false;
    this.#unfinished.push(serve);
    this.#last = response;
    if (closes) this.end();
    // Node emits `close` after `finish`, and also if the connection is lost.
    response.once('close', () => {
      this.#unfinished.shift();
      const [next] = this.#unfinished;
      if (next === undefined) this.#onIdle();
      // Node closes the connection after some responses, as after one instead of 100 Continue.
      else if (this.#socket.writable) next();
    });
    if (this.#unfinished.length === 1) serve();
    return true;
  }

  /** The response to the last request closes the connection, unless it has begun. */
  end(): void {
    if (this.#last === null || this.#last.headersSent) return;
    this.#stage = 'ending';
    this.#last.setHeader('connection', 'close');
  }

  /** Rejects bytes that the parser can't read: by the response to their request in a body, otherwise after all responses. */
  reject(error: HttpError, bytes: () => string): void {
    const last = this.#last;
    if (last?.req.complete === false) {
      if (last.headersSent || !this.#socket.writable) return void this.#socket.destroy();
      this.end();
      last.req.rejectBody(error);
      return;
    }
    // The parser fails again with each packet that follows. They are read: a reset could arrive before the rejection.
    if (this.#stage !== 'serving') return;
    this.#stage = 'rejected';
    const respond = () => {
      if (!this.#socket.writable) return void this.#socket.destroy();
      this.#socket.end(bytes());
      setTimeout(() => this.#socket.destroy(), LINGER_TIMEOUT).unref();
    };
    if (this.#unfinished.length === 0) respond();
    else last?.once('close', respond);
  }
}

import type { Socket } from 'node:net';
import type { HttpError } from '../app/errors.ts';
import type { NodeRequest, NodeResponse } from './request.ts';

/** How many requests of a connection may have no response. A connection with more is closed. */
const WAITING_MAX = 50;

/** How long a connection is open after a rejection, in milliseconds: its client may still be sending. */
const LINGER_TIMEOUT = 2_000;

/**
 * One connection. Its requests are served one after the other (RFC 9112, section 9.3.2), the next when the response before was
 * handed to the system: a client that reads nothing holds one response.
 *
 * It ends with a last response, and ignores what its client sends behind: the response to a request that asks for this, that of
 * a stopping server, or the rejection of bytes that the parser can't read.
 */
export class Connection {
  readonly #socket: Socket;
  /** Each serves a request that has no response yet, or writes the rejection. The first one has begun. */
  readonly #turns: (() => void)[] = [];
  /** The response to the newest request, even if it was sent: the body of the request may still be arriving. */
  #newest: NodeResponse | null = null;
  /** Whether the newest response, or the rejection behind it, is the last one. */
  #isEnding = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Whether a request has no response yet, or the client has not received all of one. */
  get isBusy(): boolean {
    return this.#turns.length > 0 || this.#socket.writableLength > 0;
  }

  /**
   * @param isStopping Whether the server stops, so that each response closes its connection.
   * @param serve Called when it is the request's turn.
   * @returns false if the connection has too many requests.
   */
  accept(response: NodeResponse, isStopping: boolean, serve: () => void): boolean {
    if (this.#isEnding) return true;
    if (this.#turns.length === WAITING_MAX) {
      this.#socket.destroy();
      return false;
    }
    this.#newest = response;
    if (isStopping || isLast(response.req)) this.end();
    // Node emits `close` after `finish`, and also if the connection is lost.
    response.on('close', () => {
      this.#turns.shift();
      // Not if Node closes it after this response, as after one instead of 100 Continue.
      if (this.#socket.writable) this.#turns[0]?.();
    });
    if (this.#turns.push(serve) === 1) serve();
    return true;
  }

  /** Makes the newest response the last one. If it has begun, it can't be: its client was told that more may follow. */
  end(): void {
    if (this.#isEnding || this.#newest === null || this.#newest.headersSent) return;
    this.#isEnding = true;
    this.#newest.setHeader('connection', 'close');
  }

  /**
   * Rejects bytes that the parser can't read.
   *
   * | newest request       | its response | what happens                                                                   |
   * | -------------------- | ------------ | ------------------------------------------------------------------------------ |
   * | its body arrives     | not begun    | its response becomes the last one, and its body is rejected                    |
   * | its body arrives     | has begun    | the connection is closed: no second response can follow                        |
   * | is complete, or none | any          | the rejection waits for its turn, as the last response; none if there is one   |
   *
   * @param bytes Makes the rejection if these bytes are of no request.
   */
  reject(error: HttpError, bytes: () => string): void {
    // As in the example of Node's documentation of `clientError`.
    if (!this.#socket.writable) return;
    const newest = this.#newest;
    if (newest?.req.complete === false) {
      if (newest.headersSent) return void this.#socket.destroy();
      this.end();
      newest.req.rejectBody(error);
    } else if (!this.#isEnding) {
      this.#isEnding = true;
      const respond = () => {
        this.#socket.end(bytes());
        // What follows is read, although the parser fails again: a reset could arrive before the rejection.
        setTimeout(() => this.#socket.destroy(), LINGER_TIMEOUT).unref();
      };
      if (this.#turns.push(respond) === 1) respond();
    }
  }
}

/** Whether the response to a request closes its connection. */
function isLast({ headers, httpVersion }: NodeRequest): boolean {
  const { connection = '', upgrade } = headers;
  // After an Upgrade other bytes may follow: serve this one as HTTP/1.1, then close (RFC 9110, section 7.8).
  if (upgrade !== undefined || /\bclose\b/i.test(connection)) return true;
  return httpVersion === '1.0' && !/\bkeep-alive\b/i.test(connection);
}

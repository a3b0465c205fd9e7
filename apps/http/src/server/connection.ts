import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpError } from '../app/errors.ts';
import type { NodeRequest, NodeResponse } from './request.ts';

/** How many requests of a connection may have no response. A connection with more is closed. */
const WAITING_MAX = 50;

/** How long a connection is open after a rejection, in milliseconds: its client may still be sending. */
const LINGER_TIMEOUT = 2_000;

/**
 * One connection. Its requests are served one after the other (RFC 9112, section 9.3.2), the next when the response before was
 * handed to the system: a client that reads nothing holds one response. What the events of Node.js do in both stages:
 *
 * | event                       | `serving`                                      | `ending`: everything behind is ignored |
 * | --------------------------- | ---------------------------------------------- | -------------------------------------- |
 * | request                     | waits for its turn; `ending` if it is the last | is ignored                             |
 * | request beyond 50 that wait | closes the connection                          | is ignored                             |
 * | close of a response         | the next turn begins; if there is none after   | the same                               |
 * |                             | the server has stopped, the connection ends    |                                        |
 * | clientError within a body   | its request is rejected, or the connection is  | the same                               |
 * |                             | closed if its response has begun; `ending`     |                                        |
 * | other clientError, connect  | the rejection waits for its turn, `ending`     | is ignored                             |
 * | stop of the server          | `ending`; if there is no request, or its       | is ignored                             |
 * |                             | response has begun, with the next request      |                                        |
 */
export class Connection {
  readonly #server: Server<typeof NodeRequest>;
  readonly #socket: Socket;
  #stage: 'serving' | 'ending' = 'serving';
  /** Each serves a request that has no response yet, or writes the rejection. The first one has begun. */
  #turns: (() => void)[] = [];
  /** The response to the last request, even if it was sent: the body of the request may still be arriving. */
  #last: NodeResponse | null = null;

  constructor(server: Server<typeof NodeRequest>, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
    // Node leaves the socket of a CONNECT without a listener: a reset would end the process.
    socket.on('error', () => {});
  }

  /**
   * @param isStopping Whether the server stops, so that each response closes its connection.
   * @param serve Called when it is the request's turn.
   * @returns false if the connection has too many requests.
   */
  accept(response: NodeResponse, isStopping: boolean, serve: () => void): boolean {
    if (this.#stage !== 'serving') return true;
    if (this.#turns.length === WAITING_MAX) {
      this.#socket.destroy();
      return false;
    }
    this.#last = response;
    if (isStopping || isLast(response.req)) this.end();
    // Node emits `close` after `finish`, and also if the connection is lost.
    response.on('close', () => {
      this.#turns.shift();
      const [next] = this.#turns;
      // Node closes the connection after some responses, as after one instead of 100 Continue.
      if (next !== undefined && this.#socket.writable) next();
      // Node leaves a connection open whose response had begun before the stop.
      if (next === undefined && !this.#server.listening) this.#socket.end();
    });
    if (this.#turns.push(serve) === 1) serve();
    return true;
  }

  /** Makes the response to the last request close the connection, unless it has begun or a rejection behind it will. */
  end(): void {
    if (this.#stage === 'ending' || this.#last === null || this.#last.headersSent) return;
    this.#stage = 'ending';
    this.#last.setHeader('connection', 'close');
  }

  /**
   * Rejects bytes that the parser can't read.
   *
   * @param bytes Makes the rejection if these bytes are of no request.
   */
  reject(error: HttpError, bytes: () => string): void {
    const last = this.#last;
    if (last?.req.complete === false) {
      // No second response can follow.
      if (last.headersSent || !this.#socket.writable) return void this.#socket.destroy();
      this.end();
      last.req.rejectBody(error);
      return;
    }
    // The parser fails again with each packet that follows. They are read: a reset could arrive before the rejection.
    if (this.#stage !== 'serving') return;
    this.#stage = 'ending';
    const respond = () => {
      if (!this.#socket.writable) return void this.#socket.destroy();
      this.#socket.end(bytes());
      setTimeout(() => this.#socket.destroy(), LINGER_TIMEOUT).unref();
    };
    if (this.#turns.push(respond) === 1) respond();
  }
}

/** Whether the response to a request closes its connection. */
function isLast({ headers, httpVersion }: NodeRequest): boolean {
  const { connection = '', upgrade } = headers;
  // After an Upgrade other bytes may follow: serve this one as HTTP/1.1, then close (RFC 9110, section 7.8).
  if (upgrade !== undefined || /\bclose\b/i.test(connection)) return true;
  return httpVersion === '1.0' && !/\bkeep-alive\b/i.test(connection);
}

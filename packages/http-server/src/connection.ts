import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { closeAtOnce, closeGracefully } from './closing.ts';
import type { Connections } from './connections.ts';
import type { IncomingRequest } from './incoming-request.ts';
import type { OutgoingResponse } from './outgoing-response.ts';
import { Reading } from './reading.ts';
import { headRejection, NO_TUNNELS, type Rejection, TIMED_OUT } from './rejection.ts';
import { rejectionText } from './rejection-text.ts';

/** An unread body of at most this length is awaited after its response, so that the connection can be used again; in bytes. */
const AWAITED_BODY_MAX = 1024 * 1024;

/** A request that waits for those before it, or a rejection of bytes that are no request. */
interface Waiting {
  readonly request: IncomingMessage | null;
  readonly response: OutgoingResponse | null;
  rejection: Rejection | null;
  /** Whether its response has no body, though `response` is null. */
  readonly isHead: boolean;
  /** Runs a function in the asynchronous context in which the request was parsed: tracers keep their span there. */
  readonly run: (serve: () => void) => void;
}

const connections = new WeakMap<Socket, Connection>();

/** The connection on a socket that the server has accepted. */
export function connectionOf(socket: Socket): Connection {
  return connections.get(socket) as Connection;
}

/**
 * A connection whose requests are served one after the other (RFC 9112, section 9.3.2, allows only safe requests to be served
 * concurrently). Requests that a client sends without waiting for responses wait here, each for an iteration of the event loop,
 * and nothing more is read meanwhile: Node parses all that it can read at once.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #all: Connections;
  readonly #reading: Reading;
  readonly #waiting: Waiting[] = [];
  /** The request that was parsed last, while something of it may be outstanding. */
  #lastRequest: IncomingRequest | null = null;
  /** The response to the request in flight. */
  #current: OutgoingResponse | null = null;
  /** How many requests have been accepted. */
  #accepted = 0;
  /** The number of the request that timed out while nothing was read; 0 if there is none. */
  #timedOut = 0;
  /** Whether the parser has given up. */
  #isBroken = false;
  /** Whether the last response has begun. Requests after it are not served (RFC 9112, section 9.6). */
  #isClosing = false;

  constructor(socket: Socket, all: Connections) {
    this.#socket = socket;
    this.#all = all;
    this.#reading = new Reading(socket, all.scheduler);
    connections.set(socket, this);
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Serves a request when those before it have their responses. */
  accept(request: IncomingRequest, response: OutgoingResponse): void {
    if (this.#socket.destroyed) return;
    if (this.#isClosing) {
      // What follows would fill the memory.
      if (!this.#reading.isHeld) this.#reading.hold();
      return;
    }
    this.#all.noteActivity();
    this.#lastRequest = request;
    this.#accepted += 1;
    if (this.#isIdle) this.#serve(request, response);
    else this.#wait(request, response, null);
  }

  /**
   * Rejects what the parser has given up on: the request that it was reading, or bytes that are no request.
   *
   * @param isHead Whether these bytes begin as a HEAD request.
   */
  breakOff(rejection: Rejection, isHead = false): void {
    if (this.#isClosing || this.#isBroken || this.#socket.destroyed) return;
    if (rejection === TIMED_OUT && this.#waiting.length > 0) {
      // A client can't send in time what is not read. Node reports a request only once.
      this.#timedOut = this.#lastRequest?.isBodyIncomplete ? this.#accepted : this.#accepted + 1;
      return;
    }
    this.#isBroken = true;
    this.#reading.hold();
    if (!this.#lastRequest?.isBodyIncomplete) this.#rejectInOrder(null, rejection, isHead);
    else if (this.#waiting.length > 0) (this.#waiting.at(-1) as Waiting).rejection = rejection;
    else if (this.#current !== null) this.#lastRequest.reject(rejection);
    // The request has its response already.
    else this.close();
  }

  /** Rejects a request for a tunnel, for which Node's server lets go of the socket. */
  rejectTunnel(request: IncomingMessage): void {
    // Node may have paused the socket. It thinks that a read is under way, and would never begin another.
    this.#socket.push('');
    this.#socket.on('error', () => this.drop());
    this.#socket.on('timeout', () => this.drop());
    this.#isBroken = true;
    if (!this.#isClosing) this.#rejectInOrder(request, NO_TUNNELS);
  }

  /** Whether the connection closes after a response whose header section is not written yet. */
  closesAfter({ req, shouldKeepAlive }: OutgoingResponse): boolean {
    return (
      this.#isClosing ||
      !shouldKeepAlive ||
      ((this.#isBroken || this.#all.isStopping) && this.#waiting.length === 0) ||
      (req.isBodyIncomplete && !isAwaited(req)) ||
      req.mayHaveLostBytes
    );
  }

  /** Serves no further request. */
  stopAccepting(): void {
    this.#isClosing = true;
    this.forgetWaiting();
  }

  /**
   * Closes this side, and the other when its client has had time to read all responses.
   *
   * @param last What is still to be written.
   */
  close(last = '', onEnd?: () => void): void {
    this.stopAccepting();
    // Its timers would outlive it.
    if (this.#socket.destroyed) return;
    this.#reading.holdUntilWritten(this.#isBroken ? null : this.#lastRequest);
    const { requestTimeout, lingerTimeout } = this.#all.limits;
    const isSending = this.#isBroken || this.#lastRequest?.isBodyIncomplete === true;
    if (onEnd !== undefined) this.#socket.once('finish', onEnd);
    closeGracefully(this.#socket, last, { idle: isSending ? requestTimeout : lingerTimeout, max: requestTimeout });
  }

  /** Closes an idle connection. */
  closeIfIdle(): void {
    if (this.#isIdle && !this.#isClosing) this.close();
  }

  /** Closes the connection at once, also with a request in flight. */
  drop(): void {
    closeAtOnce(this.#socket);
  }

  /** Reads nothing more until other connections have been served. */
  yieldToOthers(): void {
    this.#reading.yieldToOthers();
  }

  forgetWaiting(): void {
    if (this.#waiting.length === 0) return;
    this.#reading.release();
    this.#all.countWaiting(-this.#waiting.length);
    this.#waiting.length = 0;
  }

  get #isIdle(): boolean {
    return this.#current === null && this.#waiting.length === 0;
  }

  #wait(
    request: IncomingMessage | null,
    response: OutgoingResponse | null,
    rejection: Rejection | null,
    isHead = false,
  ): void {
    const waiting = { request, response, rejection, isHead, run: AsyncLocalStorage.snapshot() };
    if (this.#waiting.push(waiting) === 1) this.#reading.hold();
    this.#all.countWaiting(1);
  }

  #readOn(): void {
    this.#reading.release();
    const number = this.#timedOut;
    if (number === 0) return;
    this.#timedOut = 0;
    setTimeout(() => {
      const isLast = number === this.#accepted;
      if (number > this.#accepted || (isLast && this.#lastRequest?.isBodyIncomplete)) this.breakOff(TIMED_OUT);
    }, this.#all.limits.requestTimeout).unref();
  }

  #rejectInOrder(request: IncomingMessage | null, rejection: Rejection, isHead = false): void {
    if (this.#isIdle) this.#reject(request, null, rejection, isHead);
    else this.#wait(request, null, rejection, isHead);
  }

  #serve(request: IncomingRequest, response: OutgoingResponse): void {
    this.#current = response;
    response.on('close', this.#onResponseClose);
    const rejection = headRejection(request);
    if (rejection === null) this.#all.listener(request, response);
    else this.#reject(request, response, rejection);
  }

  #reject(
    request: IncomingMessage | null,
    response: OutgoingResponse | null,
    rejection: Rejection,
    isHead = false,
  ): void {
    const { headers, body } = this.#all.renderRejection(rejection, { request, socket: this.#socket });
    if (response === null) {
      this.close(rejectionText(rejection.status, headers, body, isHead));
    } else {
      response.writeHead(rejection.status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
      response.end(body);
    }
  }

  readonly #onResponseClose = (): void => {
    this.#current = null;
    if (!this.#lastRequest?.isBodyIncomplete) this.#lastRequest = null;
    if (this.#isClosing || this.#socket.destroyed) return;
    if (this.#waiting.length > 0) setImmediate(this.#serveNext);
    else if (this.#isBroken || this.#all.closesIdle) this.close();
  };

  readonly #serveNext = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#all.countWaiting(-1);
    if (this.#waiting.length === 0) this.#readOn();
    const { request, response, rejection, isHead, run } = next;
    run(() => {
      if (rejection === null) this.#serve(request as IncomingRequest, response as OutgoingResponse);
      else this.#reject(request, response, rejection, isHead);
    });
  };
}

/** Whether the rest of a body is short enough to be read and dropped. */
function isAwaited({ awaitsContinue, headers }: IncomingRequest): boolean {
  // A client that is never asked for its body may not send it at all.
  return !awaitsContinue && Number(headers['content-length'] ?? Number.NaN) <= AWAITED_BODY_MAX;
}

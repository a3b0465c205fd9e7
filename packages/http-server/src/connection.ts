import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { closeAtOnce, closeGracefully } from './closing.ts';
import type { IncomingRequest } from './incoming-request.ts';
import type { OutgoingResponse, ResponseConnection } from './outgoing-response.ts';
import { type FairScheduler, Reading } from './reading.ts';
import { headRejection, NO_TUNNELS, type Rejection, TIMED_OUT } from './rejection.ts';
import { rejectionText } from './rejection-text.ts';
import type { Listener, RenderRejection } from './server.ts';
import { MAX_AWAITED_BODY } from './size-limits.ts';
import type { TimeLimits } from './time-limits.ts';

/** The server of a connection. */
export interface ConnectionServer {
  readonly listener: Listener;
  readonly renderRejection: RenderRejection;
  readonly timeLimits: TimeLimits;
  readonly scheduler: FairScheduler;
  /** Whether each response closes its connection. */
  readonly isStopping: boolean;
  /** Whether a connection closes as soon as it is idle. */
  readonly isDraining: boolean;
  /** Called for each request. */
  noteActivity(): void;
  /** Called if more or fewer requests wait for others on their connection. */
  adjustQueued(change: number): void;
}

/** What becomes of the bytes that a client sends. */
type State =
  /** The parser makes requests of them. */
  | { readonly name: 'open' }
  /** The parser has given up. Requests and rejections that wait are served, then the connection closes. */
  | { readonly name: 'broken' }
  /** The last response has begun. Nothing after it is served (RFC 9112, section 9.6). */
  | { readonly name: 'closing'; readonly wasBroken: boolean };

const OPEN: State = { name: 'open' };
const BROKEN: State = { name: 'broken' };

/**
 * A connection whose requests are served one after the other (RFC 9112, section 9.3.2, allows only safe requests to be served
 * concurrently). Requests that a client sends without waiting for responses wait here, each for an iteration of the event loop,
 * and nothing more is read meanwhile: Node parses all that it can read at once.
 */
export class Connection implements ResponseConnection {
  readonly #socket: Socket;
  readonly #server: ConnectionServer;
  readonly #reading: Reading;
  /** Start the requests and rejections that wait, in their order. */
  readonly #queue: (() => void)[] = [];
  #state = OPEN;
  #isServing = false;
  /** The request that was parsed last, while something of it may be outstanding. */
  #lastRequest: IncomingRequest | null = null;
  /** How many requests have been accepted. */
  #accepted = 0;
  /** The number of the request that Node has reported as late while nothing was read; null if there is none. */
  #late: number | null = null;

  constructor(socket: Socket, server: ConnectionServer) {
    this.#socket = socket;
    this.#server = server;
    this.#reading = new Reading(socket, server.scheduler);
  }

  /** How many requests wait. */
  get queued(): number {
    return this.#queue.length;
  }

  /** Serves a request when those before it have their responses. */
  accept(request: IncomingRequest, response: OutgoingResponse): void {
    if (this.#socket.destroyed) return;
    if (this.#state.name === 'closing') {
      // What follows would fill the memory.
      if (!this.#reading.isHeld) this.#reading.hold();
      return;
    }
    this.#server.noteActivity();
    request.attach(this.#reading);
    response.attach(this);
    this.#lastRequest = request;
    this.#accepted += 1;
    if (this.#isIdle) this.#serve(request, response);
    else this.#enqueue(() => this.#serve(request, response));
  }

  /**
   * Rejects what the parser has given up on: the body of the last request, or bytes that are no request.
   *
   * @param isHead Whether these bytes begin as a HEAD request.
   */
  onParserError(rejection: Rejection, isHead = false): void {
    if (this.#state.name !== 'open' || this.#socket.destroyed) return;
    if (rejection === TIMED_OUT && this.#queue.length > 0) {
      // A client can't send in time what is not read.
      this.#late = this.#parsing;
      return;
    }
    this.#state = BROKEN;
    this.#reading.hold();
    const request = this.#lastRequest;
    if (!request?.isBodyIncomplete) this.#rejectInOrder(null, rejection, isHead);
    else if (!this.#isIdle) request.reject(rejection);
    // The request has its response already.
    else this.close();
  }

  /** Rejects a request for a tunnel, for which Node's server lets go of the socket. */
  rejectTunnel(request: IncomingMessage): void {
    // Node may have paused the socket. It thinks that a read is under way, and would never begin another.
    this.#socket.push('');
    this.#socket.on('error', () => this.drop());
    this.#socket.on('timeout', () => this.drop());
    if (this.#state.name === 'closing') return;
    this.#state = BROKEN;
    this.#rejectInOrder(request, NO_TUNNELS);
  }

  closesAfter({ req, shouldKeepAlive }: OutgoingResponse): boolean {
    return (
      this.#state.name === 'closing' ||
      !shouldKeepAlive ||
      ((this.#state.name === 'broken' || this.#server.isStopping) && this.#queue.length === 0) ||
      (req.isBodyIncomplete && !isAwaited(req)) ||
      req.mayHaveLostBytes
    );
  }

  stopAccepting(): void {
    if (this.#state.name !== 'closing') this.#state = { name: 'closing', wasBroken: this.#state.name === 'broken' };
    this.clearQueue();
  }

  close(last = '', onEnd?: () => void): void {
    this.stopAccepting();
    // Its timers would outlive it.
    if (this.#socket.destroyed) return;
    const wasBroken = this.#state.name === 'closing' && this.#state.wasBroken;
    const unread = !wasBroken && this.#lastRequest?.isBodyIncomplete ? this.#lastRequest : null;
    this.#reading.pauseUntilFlushed(unread);
    const { requestTimeout, lingerTimeout } = this.#server.timeLimits;
    if (onEnd !== undefined) this.#socket.once('finish', onEnd);
    const idle = wasBroken || unread !== null ? requestTimeout : lingerTimeout;
    closeGracefully(this.#socket, last, { idle, max: requestTimeout });
  }

  /** Closes an idle connection. */
  closeIfIdle(): void {
    if (this.#isIdle && this.#state.name !== 'closing') this.close();
  }

  /** Closes the connection at once, also with a request in flight. */
  drop(): void {
    closeAtOnce(this.#socket);
  }

  /** Reads nothing more until other connections have been served. */
  yieldToOthers(): void {
    this.#reading.yieldToOthers();
  }

  /** Forgets the requests that wait. */
  clearQueue(): void {
    if (this.#queue.length === 0) return;
    this.#reading.release();
    this.#server.adjustQueued(-this.#queue.length);
    this.#queue.length = 0;
  }

  get #isIdle(): boolean {
    return !this.#isServing && this.#queue.length === 0;
  }

  /** The number of the request that the parser reads or expects. */
  get #parsing(): number {
    return this.#lastRequest?.isBodyIncomplete ? this.#accepted : this.#accepted + 1;
  }

  #enqueue(start: () => void): void {
    // In the asynchronous context in which the request was parsed: tracers keep their span there.
    if (this.#queue.push(AsyncLocalStorage.bind(start)) === 1) this.#reading.hold();
    this.#server.adjustQueued(1);
  }

  #serve(request: IncomingRequest, response: OutgoingResponse): void {
    this.#isServing = true;
    response.on('close', this.#onResponseClose);
    const rejection = request.rejection ?? headRejection(request);
    if (rejection === null) {
      this.#server.listener(request, response);
    } else {
      const { headers, body } = this.#server.renderRejection(rejection, { request, socket: this.#socket });
      response.writeHead(rejection.status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
      response.end(body);
    }
  }

  /** Rejects what Node has no response for, and closes the connection. */
  #rejectInOrder(request: IncomingMessage | null, rejection: Rejection, isHead = false): void {
    const reject = () => {
      const rendered = this.#server.renderRejection(rejection, { request, socket: this.#socket });
      this.close(rejectionText(rejection.status, rendered, isHead));
    };
    if (this.#isIdle) reject();
    else this.#enqueue(reject);
  }

  readonly #onResponseClose = (): void => {
    this.#isServing = false;
    if (!this.#lastRequest?.isBodyIncomplete) this.#lastRequest = null;
    if (this.#state.name === 'closing' || this.#socket.destroyed) return;
    if (this.#queue.length > 0) setImmediate(this.#serveNext);
    else if (this.#state.name === 'broken' || this.#server.isDraining) this.close();
  };

  readonly #serveNext = (): void => {
    const start = this.#queue.shift();
    if (start === undefined) return;
    this.#server.adjustQueued(-1);
    if (this.#queue.length === 0) {
      this.#reading.release();
      this.#restartTimeout();
    }
    start();
  };

  /**
   * Gives a request its time again that was late while nothing was read, because Node reports each request once. Example: a client
   * sends `GET /slow` and half of a POST. The POST is reported while the GET waits for its storage; if its other half still has
   * not come `requestTimeout` after the GET, it is rejected then.
   */
  #restartTimeout(): void {
    const late = this.#late;
    if (late === null) return;
    this.#late = null;
    const rejectIfLate = () => late === this.#parsing && this.onParserError(TIMED_OUT);
    setTimeout(rejectIfLate, this.#server.timeLimits.requestTimeout).unref();
  }
}

/** Whether the rest of a body is short enough to be read and dropped. */
function isAwaited({ awaitsContinue, headers }: IncomingRequest): boolean {
  // A client that is never asked for its body may not send it at all.
  return !awaitsContinue && Number(headers['content-length'] ?? Number.NaN) <= MAX_AWAITED_BODY;
}

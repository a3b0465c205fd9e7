import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { closeGracefully } from './closing.ts';
import { IncomingRequest } from './incoming-request.ts';
import { OutgoingResponse, type ResponseConnection } from './outgoing-response.ts';
import { type FairScheduler, Reading } from './reading.ts';
import { headRejection, NO_TUNNELS, type Rejection, TIMED_OUT } from './rejection.ts';
import type { Listener, RenderRejection } from './server.ts';
import { MAX_AWAITED_BODY } from './size-limits.ts';
import type { TimeLimits } from './time-limits.ts';

export interface ConnectionOptions {
  readonly listener: Listener;
  readonly renderRejection: RenderRejection;
  readonly timeLimits: TimeLimits;
}

export interface ConnectionServer {
  readonly options: ConnectionOptions;
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
  /** Whether the parser has given up. Requests and rejections that wait are served, then the connection closes. */
  #isBroken = false;
  /** Whether the last response has begun. Nothing after it is served (RFC 9112, section 9.6). */
  #isClosing = false;
  #isServing = false;
  /** The request that was parsed last, while something of it may be outstanding. */
  #lastRequest: IncomingRequest | null = null;
  /** How many requests have been accepted. */
  #accepted = 0;
  /** Whether Node has reported the request after those that wait as late. */
  #isLate = false;

  constructor(socket: Socket, server: ConnectionServer) {
    this.#socket = socket;
    this.#server = server;
    this.#reading = new Reading(socket, server.scheduler);
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Serves a request when those before it have their responses. */
  accept(request: IncomingRequest, response: OutgoingResponse): void {
    if (this.#isClosing) {
      // Further requests would fill the memory.
      this.#reading.hold();
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
   * Rejects malformed bytes: the body of the last request, or bytes that are no request.
   *
   * @param isHead Whether these bytes begin as a HEAD request.
   */
  onParserError(rejection: Rejection, isHead = false): void {
    if (this.#isBroken || this.#socket.destroyed) return;
    if (rejection === TIMED_OUT && this.#queue.length > 0) {
      // The client could not send the rest because nothing was read.
      this.#isLate = true;
      return;
    }
    const request = this.#lastRequest;
    // Of a request whose response has begun, the listener may still read the body.
    if (this.#isClosing && (this.#isIdle || !request?.isBodyIncomplete)) return;
    this.#isBroken = true;
    this.#reading.hold();
    if (!request?.isBodyIncomplete) this.#reject(unparsedRequest(this.#socket, isHead), rejection);
    else if (!this.#isIdle) request.reject(rejection);
    // The request has its response already.
    else this.close();
  }

  /** Rejects a request for a tunnel, whose socket Node's server releases. */
  rejectTunnel(request: IncomingRequest): void {
    // An error without a listener would end the process. It has closed the socket.
    this.#socket.on('error', () => {});
    this.#socket.on('timeout', () => this.drop());
    if (this.#isClosing) return;
    this.#isBroken = true;
    this.#reject(request, NO_TUNNELS);
  }

  closesAfter({ req, shouldKeepAlive }: OutgoingResponse): boolean {
    return (
      !shouldKeepAlive ||
      ((this.#isBroken || this.#server.isStopping) && this.#queue.length === 0) ||
      (req.isBodyIncomplete && !isAwaited(req)) ||
      req.mayHaveLostBytes
    );
  }

  stopAccepting(): void {
    this.#isClosing = true;
    this.clearQueue();
  }

  close(): void {
    this.stopAccepting();
    // Its timers would outlive it.
    if (this.#socket.destroyed) return;
    this.#reading.discard();
    const { requestTimeout, lingerTimeout } = this.#server.options.timeLimits;
    const isSending = this.#isBroken || this.#lastRequest?.isBodyIncomplete;
    closeGracefully(this.#socket, { idle: isSending ? requestTimeout : lingerTimeout, max: requestTimeout });
  }

  closeIfIdle(): void {
    if (this.#isIdle && !this.#isClosing) this.close();
  }

  /** Closes the connection at once, also with a request in flight. */
  drop(): void {
    this.#socket.destroy();
  }

  /** Reads nothing more until other connections have been served. */
  yieldToOthers(): void {
    this.#reading.yieldToOthers();
  }

  clearQueue(): void {
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
    // Tracers keep their span in the asynchronous context in which the request was parsed.
    if (this.#queue.push(AsyncLocalStorage.bind(start)) === 1) this.#reading.hold();
    this.#server.adjustQueued(1);
  }

  #serve(request: IncomingRequest, response: OutgoingResponse): void {
    this.#isServing = true;
    response.on('close', this.#onResponseClose);
    const rejection = request.rejection ?? headRejection(request);
    if (rejection === null) {
      this.#server.options.listener(request, response);
    } else {
      const rejected = { request: request.url === '' ? null : request, socket: this.#socket };
      const { headers, body } = this.#server.options.renderRejection(rejection, rejected);
      response.writeHead(rejection.status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
      response.end(body);
    }
  }

  /** Rejects a request for which Node has no response. */
  #reject(request: IncomingRequest, rejection: Rejection): void {
    request.reject(rejection);
    const response = new OutgoingResponse(request);
    response.attach(this);
    const serve = () => {
      response.assignSocket(this.#socket);
      this.#serve(request, response);
    };
    if (this.#isIdle) serve();
    else this.#enqueue(serve);
  }

  readonly #onResponseClose = (): void => {
    this.#isServing = false;
    if (!this.#lastRequest?.isBodyIncomplete) this.#lastRequest = null;
    if (this.#isClosing || this.#socket.destroyed) return;
    if (this.#queue.length > 0) setImmediate(this.#serveNext);
    else if (this.#isBroken || this.#server.isDraining) this.close();
  };

  readonly #serveNext = (): void => {
    const start = this.#queue.shift();
    if (start === undefined) return;
    this.#server.adjustQueued(-1);
    if (this.#queue.length === 0) {
      this.#reading.release();
      if (this.#isLate) this.#restartTimeout();
    }
    start();
  };

  /**
   * Gives a request its time again that was late while nothing was read, because Node reports each request once. Example: a client
   * sends `GET /slow` and half of a POST. The POST is reported while the GET waits for its storage; if its other half still has
   * not come `requestTimeout` after the GET, it is rejected then.
   */
  #restartTimeout(): void {
    this.#isLate = false;
    const late = this.#parsing;
    const rejectIfLate = () => late === this.#parsing && this.onParserError(TIMED_OUT);
    setTimeout(rejectIfLate, this.#server.options.timeLimits.requestTimeout).unref();
  }
}

/** Stands for bytes that are no request. Its target is empty. */
function unparsedRequest(socket: Socket, isHead: boolean): IncomingRequest {
  const request = new IncomingRequest(socket);
  // The response to HEAD has no body.
  if (isHead) request.method = 'HEAD';
  return request;
}

/** Whether the rest of a body is short enough to be read and dropped. */
function isAwaited({ awaitsContinue, headers }: IncomingRequest): boolean {
  // A client that is never asked for its body may not send it at all.
  return !awaitsContinue && Number(headers['content-length']) <= MAX_AWAITED_BODY;
}

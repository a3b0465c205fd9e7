import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { HttpError, HttpResponse } from './http/http-error.ts';
import { bytesOf, MAX_HEADER_SIZE, noTunnel, parserRejection, rejectBody, requestRejection } from './http/rejection.ts';

/** In milliseconds. */
export const TIME_LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 };

/** How long a connection may be inactive while it has a request, and be open after a rejection, in milliseconds. */
export const INACTIVITY_TIMEOUT = 35_000;
const LINGER_TIMEOUT = 2_000;

/** How long a stopping server waits for the first bytes of a connection, in milliseconds. */
export const FIRST_BYTES_TIMEOUT = 1_000;

/** A stopping server ends listening once no connection has come for this time, in milliseconds. */
const QUIET_TIME = 10;
/** How often it waits for that time at most. */
const QUIET_TIMES_MAX = 10;

/** How many requests of a connection may wait for their responses. The connection of another is closed. */
export const UNANSWERED_MAX = 50;

export interface ServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Further connections are closed at once. */
  readonly maxConnections: number;
  /** The response to a request that the listener does not get; null for bytes that are no request. */
  readonly reject: (error: HttpError, request: IncomingMessage | null, socket: Socket) => HttpResponse;
  /** Called for each connection that is closed because there are too many, or because it sent too many requests. */
  readonly onDrop: (reason: 'connections' | 'requests') => void;
}

export interface RunningServer {
  readonly address: AddressInfo;
  /**
   * Stops the server. During the grace it serves as before, but each response closes its connection. Then it stops
   * listening, for which requests wait at most 100 ms. At the deadline it closes the connections that are left.
   *
   * @param times In milliseconds; the deadline begins once it has stopped listening.
   * @returns How many connections were closed at the deadline.
   */
  stop(times: { grace: number; deadline: number }): Promise<number>;
}

/** The requests of a connection. */
interface Connection {
  /** How many have no response yet. */
  unanswered: number;
  /** The response to the last of them. */
  last: ServerResponse | null;
  /** Whether the last response closes the connection: what the client sends after that request is not read as another. */
  closing: boolean;
}

/**
 * Serves HTTP/1.1 with limits.
 *
 * @throws The system's error if the server can't listen on the address.
 */
export async function startServer(listener: RequestListener, options: ServerOptions): Promise<RunningServer> {
  const { host, port, maxConnections, reject, onDrop } = options;
  const connections = new Map<Socket, Connection>();
  let accepted = 0;
  let stopping = false;
  /** The requests that wait for the end of listening. */
  let held: (() => void)[] | null = null;
  const server = createServer({
    ...{ connectionsCheckingInterval: 1_000, ...TIME_LIMITS },
    ...{ maxHeaderSize: MAX_HEADER_SIZE, requireHostHeader: false, joinDuplicateHeaders: true },
    // Most requests have no body: Node then emits no stream events.
    optimizeEmptyRequests: true,
  });
  server.maxConnections = maxConnections;
  // Otherwise Node drops fields silently, Authorization and Idempotency-Key among them. The size is limited.
  server.maxHeadersCount = 0;
  server.setTimeout(INACTIVITY_TIMEOUT);

  function closeAfterLast(connection: Connection): void {
    if (connection.last === null || connection.last.headersSent) return;
    connection.closing = true;
    connection.last.setHeader('connection', 'close');
  }

  function accept(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection === undefined || connection.closing) return;
    if (connection.unanswered === UNANSWERED_MAX) {
      onDrop('requests');
      return void socket.destroy();
    }
    connection.unanswered += 1;
    connection.last = response;
    response.once('close', () => {
      connection.unanswered -= 1;
      // Node leaves it open if the response had begun before the stop.
      if (!server.listening && connection.unanswered === 0) socket.end();
    });
    // Another protocol may follow: the request is served as HTTP/1.1 (RFC 9110, section 7.8).
    if (stopping || request.headers.upgrade !== undefined) closeAfterLast(connection);
    const error = requestRejection(request);
    if (error !== null) {
      const { status, headers, body } = reject(error, request, socket);
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    } else if (held === null) listener(request, response);
    else held.push(() => listener(request, response));
  }

  /** Rejects what the parser gives no response object for, after the responses to the requests before it. */
  function rejectBytes(error: HttpError, socket: Socket): void {
    const connection = connections.get(socket);
    if (connection === undefined) return void socket.destroy();
    const { last } = connection;
    if (last?.req.complete === false) {
      if (last.headersSent || !socket.writable) return void socket.destroy();
      closeAfterLast(connection);
      return void rejectBody(last.req, error);
    }
    // The parser fails again with each packet that follows. A client gets its response only if these are read, too.
    if (connection.closing) return;
    if (!socket.writable) return void socket.destroy();
    connection.closing = true;
    const respond = () => {
      socket.end(bytesOf(reject(error, null, socket)));
      setTimeout(() => socket.destroy(), LINGER_TIMEOUT).unref();
    };
    if (connection.unanswered === 0) respond();
    else last?.once('close', respond);
  }

  /**
   * Ends listening, which resets the connections that wait to be accepted. New requests are held until no connection waits,
   * because clients connect again once they have their responses.
   */
  async function endListening(): Promise<void> {
    const waiting: (() => void)[] = [];
    held = waiting;
    for (let before = -1, times = 0; accepted > before && times < QUIET_TIMES_MAX; times += 1) {
      before = accepted;
      await sleep(QUIET_TIME);
    }
    server.close();
    held = null;
    for (const serve of waiting) {
      serve();
      // All at once would be an overload.
      await turn();
    }
  }

  server.on('connection', (socket) => {
    accepted += 1;
    connections.set(socket, { unanswered: 0, last: null, closing: false });
    // Node leaves the socket of a CONNECT without a listener: a reset would end the process.
    socket.on('error', () => {});
    socket.once('close', () => connections.delete(socket));
  });
  server.on('drop', () => onDrop('connections'));
  server.on('request', accept);
  // An expectation other than 100-continue can be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', accept);
  server.on('clientError', (error, socket) => rejectBytes(parserRejection(error), socket as Socket));
  server.on('connect', (request) => rejectBytes(noTunnel, request.socket));
  server.listen(port, host);
  await once(server, 'listening');

  return {
    address: server.address() as AddressInfo,
    async stop({ grace, deadline }) {
      stopping = true;
      for (const connection of connections.values()) closeAfterLast(connection);
      if (grace > 0) await sleep(grace);
      let cut = 0;
      const closed = once(server, 'close');
      await endListening();
      // Node does not close connections that have sent nothing. Browsers open them ahead of requests.
      const closeSilent = () => {
        for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
      };
      // What has arrived is read between a timer and an immediate.
      const silent = setTimeout(setImmediate, FIRST_BYTES_TIMEOUT, closeSilent);
      const timer = setTimeout(() => {
        cut = connections.size;
        server.closeAllConnections();
      }, deadline);
      await closed;
      clearTimeout(silent);
      clearTimeout(timer);
      return cut;
    },
  };
}

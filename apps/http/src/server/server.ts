import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpError, type Reply, STOPPING } from '../app/errors.ts';
import { bytesOf, MAX_HEADER_SIZE, parserRejection } from './rejection.ts';
import { NodeRequest, type NodeResponse } from './request.ts';

/** In milliseconds. */
const TIME_LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 };

/** How long a connection may be inactive, unless it waits for its next request, in milliseconds. */
const INACTIVITY_TIMEOUT = 35_000;

/** How many requests of a connection may have no response. A connection with more is closed. */
const WAITING_MAX = 50;

export type Listener = RequestListener<typeof NodeRequest>;

export interface ServerOptions {
  /** `::` for all addresses, those of IPv4 included. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Further connections are closed at once. */
  readonly maxConnections: number;
  /** The response to bytes that the parser can't read and that belong to no request. */
  readonly reject: (error: HttpError, request: Pick<NodeRequest, 'clientAddress' | 'header'>) => Reply;
  /** Called for each connection that is closed because there are too many, or because it sent too many requests. */
  readonly onDrop: (reason: 'connections' | 'requests') => void;
}

export interface RunningServer {
  readonly address: AddressInfo;
  /**
   * Stops the server. During the grace it serves as before, but each response closes its connection. Then it accepts no
   * connections, and closes idle ones. At the deadline it closes those that are left.
   *
   * @param times In milliseconds; the deadline begins after the grace.
   * @returns How many connections were closed at the deadline before their responses were sent.
   */
  stop(times: { grace: number; deadline: number }): Promise<number>;
}

interface Connection {
  /** Responses that are not sent. The request of the first one is being served. */
  readonly waiting: NodeResponse[];
  /** The response to the newest request, even if it was sent: the body of the request may still be arriving. */
  newest: NodeResponse | null;
}

/**
 * Serves HTTP/1.1 with limits. Requests of a connection are served one after the other, the next when the response before was
 * handed to the system: a client that reads nothing holds one response.
 *
 * @throws The system's error if the server can't listen on the address.
 */
export async function startServer(listener: Listener, options: ServerOptions): Promise<RunningServer> {
  const { host, port, maxConnections, reject, onDrop } = options;
  const server = createServer({
    ...{ IncomingMessage: NodeRequest, connectionsCheckingInterval: 1_000, ...TIME_LIMITS },
    // Node's own rejection of a missing Host field has no body.
    ...{ maxHeaderSize: MAX_HEADER_SIZE, requireHostHeader: false, joinDuplicateHeaders: true },
    // Most requests have no body: Node then emits no stream events.
    optimizeEmptyRequests: true,
  });
  server.maxConnections = maxConnections;
  // Otherwise Node drops fields silently, Authorization and Idempotency-Key among them. The size is limited.
  server.maxHeadersCount = 0;
  server.setTimeout(INACTIVITY_TIMEOUT);

  let isStopping = false;
  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket) => {
    connections.set(socket, { waiting: [], newest: null });
    socket.once('close', () => connections.delete(socket));
  });
  server.on('drop', () => {
    if (!isStopping) onDrop('connections');
  });

  function accept(request: NodeRequest, response: NodeResponse): void {
    const { socket } = request;
    const connection = connections.get(socket);
    // Its socket is closed.
    if (connection === undefined) return;
    const { waiting } = connection;
    if (waiting.length === WAITING_MAX) {
      socket.destroy();
      onDrop('requests');
      return;
    }
    connection.newest = response;
    // After an Upgrade other bytes may follow: serve this one as HTTP/1.1, then close (RFC 9110, section 7.8).
    if (isStopping || request.headers.upgrade !== undefined) closeAfter(response);
    // Node emits `close` after `finish`, and also if the connection is lost.
    response.on('close', () => {
      waiting.shift();
      // Node discards the rest of a body only if nothing has begun to read it.
      if (!request.complete) request.removeAllListeners('data').resume();
      if (waiting[0] !== undefined) serve(waiting[0]);
    });
    if (waiting.push(response) === 1) serve(response);
  }

  /** Serves a request, unless it came behind the last response of its connection. */
  function serve(response: NodeResponse): void {
    if (response.req.socket.writable) listener(response.req, response);
  }

  server.on('request', accept);
  // An expectation other than 100-continue can be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', accept);
  server.on('clientError', (error, stream) => {
    const socket = stream as Socket;
    const connection = connections.get(socket);
    // As in the example of Node's documentation.
    if (connection === undefined || !socket.writable) return;
    const { waiting, newest } = connection;
    const inBody = newest !== null && !newest.req.complete;
    if (waiting.length === 0 && !inBody) {
      const unparsed = { clientAddress: socket.remoteAddress ?? null, header: () => undefined };
      socket.end(bytesOf(reject(parserRejection(error), unparsed)));
      socket.destroySoon();
    } else if (newest?.headersSent === false && (!inBody || waiting.length === 1)) {
      // The bytes are in its body, or the end of one whose Content-Length is too small.
      newest.req.rejectBody(parserRejection(error));
      closeAfter(newest);
    } else {
      socket.destroy();
    }
  });

  // Without a host Node listens on `::`, or on 0.0.0.0 if IPv6 is not available.
  server.listen({ port, ...(host !== '::' && { host }) });
  await once(server, 'listening');

  return {
    address: server.address() as AddressInfo,
    async stop({ grace, deadline }) {
      isStopping = true;
      for (const { newest } of connections.values()) if (newest !== null) closeAfter(newest);
      if (grace > 0) await sleep(grace);
      let closedAtDeadline = 0;
      const timer = setTimeout(() => {
        closedAtDeadline = [...connections.values()].filter(({ waiting }) => waiting.length > 0).length;
        for (const { newest } of connections.values()) newest?.req.rejectBody(STOPPING);
        server.closeAllConnections();
      }, deadline);
      // 0 drops every new connection.
      server.maxConnections = 0;
      // For Node a connection is idle although its client has not read all of the last response: `close` would cut it off.
      const partlySent = () => [...connections.values()].flatMap(({ waiting }) => waiting).find((r) => r.writableEnded);
      for (let response = partlySent(); response !== undefined; response = partlySent()) await once(response, 'close');
      const closed = once(server, 'close');
      server.close();
      // For Node a connection that has sent nothing is not idle.
      for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
      await closed;
      clearTimeout(timer);
      return closedAtDeadline;
    },
  };
}

/** Makes a response the last one of its connection. */
function closeAfter(response: NodeResponse): void {
  if (response.headersSent) response.on('finish', () => response.req.socket.destroySoon());
  else response.setHeader('connection', 'close');
}

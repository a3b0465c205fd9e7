import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpError, Reply } from '../app/errors.ts';
import { Connection } from './connection.ts';
import { bytesOf, MAX_HEADER_SIZE, NO_TUNNEL, parserRejection } from './rejection.ts';
import { NodeRequest, type NodeResponse } from './request.ts';

/** In milliseconds. */
const TIME_LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 };

/** How long a connection may be inactive, unless it waits for its next request, in milliseconds. */
const INACTIVITY_TIMEOUT = 35_000;

/** How long a stopping server waits for the first bytes of a connection, in milliseconds. */
const FIRST_BYTES_TIMEOUT = 1_000;

/** How often a stopping server looks for idle connections, in milliseconds. */
const IDLE_INTERVAL = 100;

export type Listener = RequestListener<typeof NodeRequest>;

export interface ServerOptions {
  /** `::` for all addresses, those of IPv4 included. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Further connections are closed at once. */
  readonly maxConnections: number;
  /** The response to a request that the listener does not get. Of bytes that are not one only the address is known. */
  readonly reject: (error: HttpError, sender: NodeRequest | Pick<NodeRequest, 'clientAddress'>) => Reply;
  /** Called for each connection that is closed because there are too many, or because it sent too many requests. */
  readonly onDrop: (reason: 'connections' | 'requests') => void;
}

export interface RunningServer {
  readonly address: AddressInfo;
  /**
   * Stops the server. During the grace it serves as before, but each response closes its connection. Then it stops
   * listening, and closes idle connections once no other one has bytes to send. At the deadline it closes those that are left.
   *
   * @param times In milliseconds; the deadline begins after the grace.
   * @returns How many connections were closed at the deadline before their responses were received.
   */
  stop(times: { grace: number; deadline: number }): Promise<number>;
}

/**
 * Serves HTTP/1.1 with limits.
 *
 * @throws The system's error if the server can't listen on the address.
 */
export async function startServer(listener: Listener, options: ServerOptions): Promise<RunningServer> {
  const { host, port, maxConnections, reject, onDrop } = options;
  const server = createServer({
    ...{ IncomingMessage: NodeRequest, connectionsCheckingInterval: 1_000, ...TIME_LIMITS },
    ...{ maxHeaderSize: MAX_HEADER_SIZE, requireHostHeader: false, joinDuplicateHeaders: true },
    // Most requests have no body: Node then emits no stream events.
    optimizeEmptyRequests: true,
  });
  server.maxConnections = maxConnections;
  // Otherwise Node drops fields silently, Authorization and Idempotency-Key among them. The size is limited.
  server.maxHeadersCount = 0;
  server.setTimeout(INACTIVITY_TIMEOUT);

  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket) => {
    connections.set(socket, new Connection(socket));
    socket.once('close', () => connections.delete(socket));
  });
  server.on('drop', () => onDrop('connections'));

  let isStopping = false;
  function accept(request: NodeRequest, response: NodeResponse): void {
    const serve = () => {
      const error = request.normalizeTarget();
      if (error === null) listener(request, response);
      else rejectRequest(error, request, response);
    };
    // There is no connection if its socket is closed.
    const connection = connections.get(request.socket);
    if (connection?.accept(response, isStopping, serve) === false) onDrop('requests');
  }

  async function rejectRequest(error: HttpError, request: NodeRequest, response: NodeResponse): Promise<void> {
    const { status, headers, body } = await request.afterBody(response, reject(error, request));
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }

  server.on('request', accept);
  server.on('checkContinue', (request, response) => {
    request.sendContinue = () => response.writeContinue();
    accept(request, response);
  });
  // An expectation other than 100-continue can be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', accept);

  /** Rejects bytes that the parser can't read. */
  const rejectBytes = (error: HttpError, socket: Socket) =>
    connections
      .get(socket)
      ?.reject(error, () => bytesOf(reject(error, { clientAddress: socket.remoteAddress ?? null })));
  server.on('clientError', (error, socket) => rejectBytes(parserRejection(error), socket as Socket));
  server.on('connect', ({ socket }) => {
    // Node leaves it without a listener: a reset would end the process.
    socket.on('error', () => {});
    rejectBytes(NO_TUNNEL, socket);
  });

  // Without a host Node listens on `::`, or on 0.0.0.0 if IPv6 is not available.
  server.listen({ port, ...(host !== '::' && { host }) });
  await once(server, 'listening');

  return {
    address: server.address() as AddressInfo,
    async stop({ grace, deadline }) {
      isStopping = true;
      for (const connection of connections.values()) connection.end();
      if (grace > 0) await sleep(grace);
      const closed = once(server, 'close');
      // That of HTTP closes idle connections, too. For Node they include one whose client has not read the whole response yet,
      // and by its documentation those that have sent nothing.
      TcpServer.prototype.close.call(server);
      const idle = setInterval(() => {
        const isQuiet = ({ bytesRead, writableLength }: Socket) => bytesRead > 0 && writableLength === 0;
        if ([...connections.keys()].every(isQuiet)) server.closeIdleConnections();
      }, IDLE_INTERVAL);
      // Browsers open connections ahead of requests. Node reads sockets between timers and immediates: what has arrived counts.
      const closeSilent = () => {
        for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
      };
      const silent = setTimeout(() => setImmediate(closeSilent), FIRST_BYTES_TIMEOUT);
      let closedAtDeadline = 0;
      const timer = setTimeout(() => {
        for (const [socket, { isBusy }] of connections) {
          if (isBusy) closedAtDeadline += 1;
          socket.destroy();
        }
      }, deadline);
      await closed;
      clearInterval(idle);
      clearTimeout(silent);
      clearTimeout(timer);
      // Ends the timer that checks Node's time limits.
      server.close();
      return closedAtDeadline;
    },
  };
}

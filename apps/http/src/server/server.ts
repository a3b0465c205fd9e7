import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Observer, OnUnexpectedError } from '../http/exchange.ts';
import { errorResponse } from '../http/http-error.ts';
import type { Env } from '../http/operation.ts';
import { type Incoming, normalizeTarget } from '../http/request-target.ts';
import { SECURITY_HEADERS } from '../http/respond.ts';
import type { HttpResponse } from '../http/response.ts';
import { createBackPressure } from './back-pressure.ts';
import { take, takeNoMore } from './connection.ts';
import { createRefusals } from './unparsable.ts';

/** Time limits of connections and requests, in milliseconds. */
export const SERVER_LIMITS = {
  /** For a request's header section to arrive. */
  headersTimeout: 10_000,
  /** For a whole request to arrive. */
  requestTimeout: 30_000,
  /** For an idle connection to be used again: longer than the 60 s of the usual load balancers, which must close first. */
  keepAliveTimeout: 65_000,
  /**
   * For a client to read on, or to write on: one that does neither is cut, with all that waits for it in memory. Longer than
   * for a request to arrive, whose end has an answer that tells why.
   */
  inactivityTimeout: 35_000,
  /** How often the limits above are enforced. */
  connectionsCheckingInterval: 1_000,
};

/** Why a connection is not kept: there are too many, or it sent too many requests without waiting for their answers. */
export const DROP_REASONS = ['connections', 'requests'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** An application that listens. */
export interface RunningServer {
  readonly address: AddressInfo;

  /**
   * Stops: goes on serving for a while, asking clients to close their connections; then takes no new connection and
   * finishes what is in flight. What is not finished by the deadline is cut.
   *
   * @param grace How long to go on serving, in milliseconds.
   * @param deadline How long what is in flight may take after that, in milliseconds.
   * @returns How many connections were cut.
   */
  stop({ grace, deadline }: { grace: number; deadline: number }): Promise<number>;
}

/**
 * Serves an application.
 *
 * @param port 0 for any free one.
 * @param maxConnections How many clients can be connected at once; the next are turned away.
 * @param watchers Told of what is refused before it reaches the application.
 * @param onUnexpectedError Told of errors that escaped the application.
 * @param onDrop Told of each connection that is not kept.
 * @throws The system's error where the address can't be listened at.
 */
export async function startServer(
  app: Hono<Env>,
  {
    host,
    port,
    maxConnections,
    observers,
    onUnexpectedError,
    onDrop,
    limits = SERVER_LIMITS,
  }: {
    host: string;
    port: number;
    maxConnections: number;
    observers: readonly Observer[];
    onUnexpectedError: OnUnexpectedError;
    onDrop: (reason: DropReason) => void;
    limits?: typeof SERVER_LIMITS;
  },
): Promise<RunningServer> {
  const listener = getRequestListener(
    // A HEAD request is its GET to the application; Node leaves out the body and keeps its length.
    (request, env) => app.fetch(request.method === 'HEAD' ? asGet(request) : request, env as Env['Bindings']),
    {
      // Its own way with an unread body cuts off, after half a second, those who are still sending.
      autoCleanupIncoming: false,
      errorHandler: (error) => {
        onUnexpectedError(error);
        return written(errorResponse(error));
      },
    },
  );
  const serve = (incoming: Incoming, outgoing: ServerResponse) => {
    // While it waited for its turn its body turned out to be malformed.
    if (incoming.refusal !== undefined) return;
    normalizeTarget(incoming);
    listener(incoming, outgoing);
  };
  const connections = new Set<Socket>();
  const backPressure = createBackPressure(serve, {
    connections,
    maxConnections,
    onCut: () => onDrop('requests'),
  });
  let stopping = false;
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // What was read with the request over which it was cut.
    if (incoming.socket.destroyed) return;
    if (!take(incoming)) {
      backPressure.ignore(incoming, outgoing);
      return;
    }
    if (stopping) {
      outgoing.shouldKeepAlive = false;
      takeNoMore(incoming);
    }
    backPressure.serve(incoming, outgoing);
  };
  // A request without a Host field, or with two, is refused by the application, in the Error shape.
  const server = createServer({ ...limits, requireHostHeader: false, joinDuplicateHeaders: true }, answer);
  // A client may close its side behind its last request, and wait for the answers; Node would close the other side, too.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Whether the body is wanted is known only when the rest of the request has been looked at.
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse & { _expect_continue?: boolean }) => {
    // Else Node.js closes the connection behind an answer without a go-ahead, even where the body has come or there is none, and
    // with it the answers to what was taken behind it. Where a body is still to come overtakeBody closes it.
    outgoing._expect_continue = false;
    answer(incoming, outgoing);
  });
  // An expectation other than 100-continue can be ignored (RFC 9110, section 10.1.1); Node would refuse it without a body.
  server.on('checkExpectation', answer);
  const refusals = createRefusals(observers);
  server.on('connect', (request, socket) => refusals.connect(request, socket as Socket));
  server.on('clientError', (error, socket) => refusals.unparsable(error, socket as Socket));
  server.maxConnections = maxConnections;
  server.on('drop', () => onDrop('connections'));
  server.setTimeout(limits.inactivityTimeout);
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    backPressure.opened(socket);
    socket.once('close', () => connections.delete(socket));
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    address: server.address() as AddressInfo,
    async stop({ grace, deadline }) {
      stopping = true;
      await sleep(grace);
      return closed(server, connections, deadline);
    },
  };
}

/** For what never reached a route. */
function written({ status, headers, body }: HttpResponse): Response {
  return new Response(body, { status, headers: { ...SECURITY_HEADERS, ...headers } });
}

function asGet(request: Request): Request {
  return Object.create(request, { method: { value: 'GET' } }) as Request;
}

async function closed(server: Server, connections: ReadonlySet<Socket>, deadline: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const closeIdle = server.closeIdleConnections.bind(server);
  // To Node.js a connection is idle as soon as its answer was handed to it: one that its client is still reading would be cut.
  server.closeIdleConnections = () => {
    for (const { writableLength } of connections) if (writableLength > 0) return;
    closeIdle();
  };
  server.close(() => resolve());
  // `close` ends the connections that are idle now; those that become idle with their answer need another look.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  let cutCount = 0;
  // Not closeAllConnections(), which knows nothing of those that asked for a tunnel.
  const cut = setTimeout(() => {
    cutCount = connections.size;
    for (const socket of connections) socket.destroy();
  }, deadline);
  await promise;
  clearInterval(sweep);
  clearTimeout(cut);
  return cutCount;
}

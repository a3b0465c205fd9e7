import { once } from 'node:events';
import { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Connections } from './connections.ts';
import { IncomingRequest } from './incoming-request.ts';
import { OutgoingResponse } from './outgoing-response.ts';
import { isHead, parserRejection } from './rejection.ts';
import type { Listener, RunningServer, ServerOptions } from './server.ts';
import { MAX_HEADER_SIZE } from './size-limits.ts';
import { runningServer } from './stop.ts';
import { TIME_LIMITS } from './time-limits.ts';

class HttpServer extends Server<typeof IncomingRequest, typeof OutgoingResponse> {
  /** Whether a client may close its side after its last request and wait for the responses. Node has no option for this. */
  readonly httpAllowHalfOpen = true;

  /** Called by `close`. Node would destroy connections whose responses are not read yet. */
  override closeIdleConnections(): void {}
}

/** Makes a server that does not listen yet. */
export function createServer(listener: Listener, options: Omit<ServerOptions, 'host' | 'port'>) {
  const { maxConnections, renderRejection, onDrop = () => {} } = options;
  const timeLimits = { ...TIME_LIMITS, ...options.timeLimits };
  const connections = new Connections({ listener, renderRejection, timeLimits }, onDrop);
  const server = new HttpServer({
    ...timeLimits,
    IncomingMessage: IncomingRequest,
    ServerResponse: OutgoingResponse,
    maxHeaderSize: MAX_HEADER_SIZE,
    requireHostHeader: false,
    joinDuplicateHeaders: true,
    // Called for each request that asks for another protocol. It is served as HTTP/1.1 (RFC 9110, section 7.8).
    shouldUpgradeCallback(request) {
      request.noteUpgrade();
      return false;
    },
  });
  const accept = (request: IncomingRequest, response: OutgoingResponse) =>
    connections.of(request.socket).accept(request, response);
  server.maxConnections = maxConnections;
  // Otherwise workers of node:cluster pass a further connection on to each other forever. Its type is missing.
  Object.assign(server, { dropMaxConnection: true });
  server.setTimeout(timeLimits.inactivityTimeout);
  server.on('connection', (socket: Socket) => connections.add(socket));
  server.on('drop', () => onDrop('connections'));
  server.on('request', accept);
  // Without this listener Node asks for every body, wanted or not.
  server.on('checkContinue', (request, response) => {
    request.continueOnRead(response);
    accept(request, response);
  });
  // An expectation other than 100-continue can be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', accept);
  server.on('clientError', (error, socket) =>
    connections.of(socket as Socket).onParserError(parserRejection(error), isHead(error)),
  );
  server.on('connect', (request) => connections.of(request.socket).rejectTunnel(request));
  return { server, connections };
}

/**
 * Serves HTTP/1.1.
 *
 * @param listener Gets each valid request; a connection's next one when the response to the one before is written.
 * @throws The system's error if the server can't listen on the address.
 */
export async function startServer(listener: Listener, options: ServerOptions): Promise<RunningServer> {
  const { server, connections } = createServer(listener, options);
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return runningServer(server, connections);
}

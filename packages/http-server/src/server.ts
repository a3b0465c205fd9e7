import { type IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { connectionOf } from './connection.ts';
import { Connections, type Serving } from './connections.ts';
import { IncomingRequest } from './incoming-request.ts';
import { type Limits, MAX_HEADER_SIZE, SERVER_LIMITS } from './limits.ts';
import { OutgoingResponse } from './outgoing-response.ts';
import { isHead, parserRejection } from './rejection.ts';
import { type RunningServer, runningServer } from './stop.ts';

/** How a server listens and what it serves. */
export interface ServerOptions extends Pick<Serving, 'renderRejection'>, Partial<Pick<Serving, 'onDrop'>> {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** How many clients can be connected at once; further connections are closed at once. */
  readonly maxConnections: number;
  readonly limits?: Partial<Limits>;
}

class HttpServer extends Server<typeof IncomingRequest, typeof OutgoingResponse> {
  /**
   * Whether a client may close its side after its last request and wait for the responses. Node has no option for this: it reads
   * the property, which is not documented.
   */
  readonly httpAllowHalfOpen = true;

  /** Called by `close`. Node would destroy connections whose responses are not read yet. */
  override closeIdleConnections(): void {}
}

/**
 * Serves HTTP/1.1.
 *
 * @param listener Gets each valid request; of one connection the next when the response to the one before is written.
 * @throws The system's error if the server can't listen on the address.
 */
export async function startServer(listener: Serving['listener'], options: ServerOptions): Promise<RunningServer> {
  const { host, port, maxConnections, renderRejection, onDrop = () => {} } = options;
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const connections = new Connections({ listener, renderRejection, onDrop, limits });
  const server = new HttpServer({
    ...limits,
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
    connectionOf(request.socket).accept(request, response);
  server.maxConnections = maxConnections;
  server.setTimeout(limits.inactivityTimeout);
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
    connectionOf(socket as Socket).breakOff(parserRejection(error), isHead(error)),
  );
  server.on('connect', (request: IncomingMessage, socket) => connectionOf(socket as Socket).rejectTunnel(request));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return runningServer(server, connections);
}

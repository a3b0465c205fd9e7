import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { clientAddress } from '../http/client-address.ts';
import { beginExchange, type Exchange, type Observer } from '../http/exchange.ts';
import { errorBody, HttpError } from '../http/http-error.ts';
import type { Incoming } from '../http/request-target.ts';
import { SECURITY_HEADERS } from '../http/respond.ts';
import { closeGently } from './close-gently.ts';

const bad = (message: string, status = 400) => new HttpError('invalid_request', message, {}, status);

/** By the codes of the errors of Node's server and parser. The set of Error codes is closed: its nearest serves. */
const REFUSALS: Readonly<Record<string, HttpError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: bad('the request did not arrive in time', 408),
  HPE_HEADER_OVERFLOW: bad('the header section is too large', 431),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError('payload_too_large', 'the chunk extensions are too large'),
  HPE_INVALID_METHOD: bad('the request does not begin with a method that HTTP knows, in capitals'),
  HPE_INVALID_URL: bad('the request target must be a path, of ASCII characters: percent-encode others'),
  HPE_INVALID_VERSION: bad('the first line must end in HTTP/1.1 or HTTP/1.0, and CRLF'),
  HPE_INVALID_HEADER_TOKEN: bad('a header field is malformed'),
  HPE_INVALID_CONTENT_LENGTH: bad('the Content-Length field is malformed, or there is Transfer-Encoding, too'),
  HPE_UNEXPECTED_CONTENT_LENGTH: bad('send one Content-Length field, and none beside Transfer-Encoding'),
  HPE_INVALID_TRANSFER_ENCODING: bad('the Transfer-Encoding field is malformed, or there is Content-Length, too'),
  HPE_CR_EXPECTED: bad('a line must end in CRLF'),
  HPE_LF_EXPECTED: bad('a line must end in CRLF'),
  HPE_STRICT: bad('a line, or a chunk of the body, is malformed'),
  HPE_INVALID_CHUNK_SIZE: bad('a chunk of the body is malformed'),
  HPE_INVALID_EOF_STATE: bad('the connection ended before the request did'),
};

const NOT_HTTP = bad('this is not a valid HTTP/1.1 request');
const NO_PROXY = bad('CONNECT is not supported');

const SECURITY_FIELDS = Object.entries(SECURITY_HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/** How long after its refusal a connection is cut, in milliseconds. */
const LINGER = 1_000;

/** What the log and the metrics call the route of something that is no request. */
const UNPARSABLE = 'unparsable';

/** Answers to what never becomes a request of the application. */
export interface Refusals {
  /**
   * For `clientError`: what never became a request is answered all the same, behind the answers to the requests before
   * it. What broke off in the middle of a request is answered instead of that request, unless an answer to it has begun.
   */
  unparsable(error: NodeJS.ErrnoException, socket: HttpSocket): void;
  /** For `connect`: a tunnel that someone asks for, behind the answers to the requests before it. */
  connect(request: IncomingMessage, socket: HttpSocket): void;
}

/** A socket of Node's HTTP server, which has the answer that is being written on it. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse<Incoming> | null };

/** @param watchers Told of each refusal that is not part of a request which they were told of. */
export function createRefusals(observers: readonly Observer[]): Refusals {
  /** Connections whose refusal waits for the answers before it: what still comes on them has no refusal of its own. */
  const waiting = new WeakSet<Socket>();

  function behind(answer: ServerResponse, socket: Socket, refusing: () => void) {
    if (waiting.has(socket)) return;
    waiting.add(socket);
    answer.once('finish', () => {
      waiting.delete(socket);
      refusing();
    });
  }

  function close(socket: Socket, last?: string) {
    setTimeout(() => socket.destroy(), LINGER).unref();
    closeGently(socket, last);
  }

  function refuse(socket: Socket, { status, code, message }: HttpError, { id, method }: Exchange) {
    const body = errorBody(code, message, status);
    close(
      socket,
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n${SECURITY_FIELDS}` +
        `X-Request-Id: ${id}\r\nDate: ${new Date().toUTCString()}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${method === 'HEAD' ? '' : body}`,
    );
    return Buffer.byteLength(body);
  }

  /** Refuses a request that a route waits for, which tells the watchers when its body breaks off, or that waits for its turn. */
  function refuseInstead(incoming: Incoming, socket: Socket, refusal: HttpError) {
    const { exchange, headers, method } = incoming;
    incoming.refusal = refusal;
    if (exchange === undefined) refuseAndTell(socket, method ?? '-', refusal, headers);
    else refuse(socket, refusal, exchange);
  }

  function refuseAndTell(socket: Socket, method: string, refusal: HttpError, headers: IncomingHttpHeaders = {}) {
    const exchange = beginExchange(headers, method, UNPARSABLE, {}, clientAddress({ headers, socket }, 0));
    for (const observer of observers) observer.begin?.();
    const bytes = refuse(socket, refusal, exchange);
    for (const observer of observers) observer.end(exchange, refusal, bytes, 0);
  }

  return {
    unparsable(error, socket) {
      if (socket.writableEnded) {
        // The rest of what was answered already, for which its client has had its time.
        if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy();
        return;
      }
      const underWay = socket._httpMessage;
      const refusal = REFUSALS[error.code ?? ''] ?? NOT_HTTP;
      if (underWay?.req.complete) behind(underWay, socket, () => this.unparsable(error, socket));
      else if (!socket.writable || (underWay?.headersSent && error.code === 'ERR_HTTP_REQUEST_TIMEOUT'))
        socket.destroy();
      // The answer that has begun may have been written in this very moment, and not be out yet.
      else if (underWay?.headersSent) close(socket);
      else if (underWay) refuseInstead(underWay.req, socket, refusal);
      else refuseAndTell(socket, '-', refusal);
    },

    connect(_request, socket) {
      // Node.js has let go of the connection: its client may go away, or stop reading, while the answers before this are written.
      socket.on('error', () => socket.destroy());
      socket.on('timeout', () => socket.destroy());
      const refuseInTurn = () => {
        const underWay = socket._httpMessage;
        if (underWay) underWay.once('finish', refuseInTurn);
        else if (socket.writable) refuseAndTell(socket, 'CONNECT', NO_PROXY);
        else socket.destroy();
      };
      refuseInTurn();
    },
  };
}

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, errorBody } from './http-error.ts';
import { SECURITY_HEADERS } from './respond.ts';

interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** By the codes of the errors of Node's server and parser. The set of Error codes is closed: its nearest serves. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'invalid_request', message: 'the request did not arrive in time' },
  HPE_HEADER_OVERFLOW: { status: 431, code: 'invalid_request', message: 'the header section is too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'payload_too_large',
    message: 'the chunk extensions are too large',
  },
};

const SECURITY_FIELDS = Object.entries(SECURITY_HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/** How long after its refusal a connection is cut, in milliseconds. */
const LINGER = 1_000;

const NOT_HTTP: Refusal = { status: 400, code: 'invalid_request', message: 'this is not a valid HTTP/1.1 request' };
const NO_PROXY: Refusal = { status: 400, code: 'invalid_request', message: 'CONNECT is not supported' };

/**
 * For `clientError`: what never became a request is answered all the same, behind the answers to the requests before it.
 * What broke off in the middle of a request is answered instead of that request, unless an answer to it has begun.
 */
export function refuseUnparsable(
  error: NodeJS.ErrnoException,
  socket: Socket & { _httpMessage?: ServerResponse<IncomingMessage> | null },
) {
  // The rest of what was refused already.
  if (socket.writableEnded) return;
  const underWay = socket._httpMessage;
  if (underWay?.req.complete) underWay.once('finish', () => refuseUnparsable(error, socket));
  else if (socket.writable && !underWay?.headersSent) refuse(socket, REFUSALS[error.code ?? ''] ?? NOT_HTTP);
  else socket.destroy();
}

/** For `connect`: a tunnel that someone asks for. */
export function refuseConnect(_request: IncomingMessage, socket: Socket) {
  refuse(socket, NO_PROXY);
}

function refuse(socket: Socket, { status, code, message }: Refusal) {
  const body = errorBody(code, message, status);
  // Closed with bytes unread, the connection would be reset, and the answer lost on its way. So what still comes is
  // read and dropped, until the client closes its side or time is up.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER).unref();
  socket.on('error', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n${SECURITY_FIELDS}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

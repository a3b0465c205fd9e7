import { STATUS_CODES } from 'node:http';
import { BODY_IS_INCOMPLETE, type HttpError, invalidRequest, type Reply } from '../app/errors.ts';
import { CLIENT_MESSAGES } from '../app/messages.ts';

/** Of the request target and the header fields, in bytes. */
export const MAX_HEADER_SIZE = 16 * 1024;

/** The rejection for an error of Node's event `clientError`. */
export function parserRejection({ code, message }: NodeJS.ErrnoException): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return invalidRequest(CLIENT_MESSAGES.late, 408);
  if (code === 'HPE_HEADER_OVERFLOW') return invalidRequest(CLIENT_MESSAGES.headerIsTooLarge(MAX_HEADER_SIZE), 431);
  if (code === 'HPE_INVALID_EOF_STATE') return BODY_IS_INCOMPLETE;
  return invalidRequest(CLIENT_MESSAGES.malformed(message.replace(/^Parse Error: /, '')));
}

/** A response that closes the connection, for a socket without a response object (RFC 9112). */
export function bytesOf({ status, headers, body }: Reply): string {
  const length = String(Buffer.byteLength(body));
  const own = { date: new Date().toUTCString(), connection: 'close', 'content-length': length };
  const fields = Object.entries({ ...headers, ...own }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`;
}

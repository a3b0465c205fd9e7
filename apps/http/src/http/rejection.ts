import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { CLIENT_MESSAGES, type HttpError, type HttpResponse, invalidRequest } from './http-error.ts';

/** Of the request target and the header fields, in bytes. */
export const MAX_HEADER_SIZE = 16 * 1024;

/** A tunnel (RFC 9110, section 9.3.6) is for proxies. */
export const noTunnel = invalidRequest(CLIENT_MESSAGES.noTunnel);

const BAD_TARGET = invalidRequest(CLIENT_MESSAGES.badTarget);

/** The rejection for an error of Node's event `clientError`. */
export function parserRejection({ code, message }: NodeJS.ErrnoException): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return invalidRequest(CLIENT_MESSAGES.late, 408);
  if (code === 'HPE_HEADER_OVERFLOW') return invalidRequest(CLIENT_MESSAGES.headerIsTooLarge(MAX_HEADER_SIZE), 431);
  if (code === 'HPE_INVALID_EOF_STATE') return invalidRequest(CLIENT_MESSAGES.bodyIsIncomplete);
  return invalidRequest(CLIENT_MESSAGES.malformed(message.replace(/^Parse Error: /, '')));
}

/** A response that closes the connection, for a socket without a response object (RFC 9112). */
export function bytesOf({ status, headers, body }: HttpResponse): string {
  const length = String(Buffer.byteLength(body));
  const own = { date: new Date().toUTCString(), connection: 'close', 'content-length': length };
  const fields = Object.entries({ ...headers, ...own }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`;
}

const bodyRejections = new WeakMap<IncomingMessage, HttpError>();

/** Rejects the body of a request, for a handler that reads it now or later. */
export function rejectBody(request: IncomingMessage, error: HttpError): void {
  bodyRejections.set(request, error);
  request.emit('rejected', error);
}

/** Calls back if the body of a request is rejected, or has been. */
export function onBodyRejected(request: IncomingMessage, callback: (error: HttpError) => void): void {
  const error = bodyRejections.get(request);
  if (error === undefined) request.on('rejected', callback);
  else callback(error);
}

/** uri-host [":" port] (RFC 9110, section 7.2) as URLs have it, or empty. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=-]+)(?::\d+)?$/i;
const isHost = (host: string): boolean => host === '' || (HOST.test(host) && URL.canParse(`http://${host}`));

/** A target in origin form, or in absolute form with a host (RFC 9112, section 3.2; RFC 9110, section 4.2). */
const TARGET = /^(?:https?:\/\/(?:[^/?#]*@)?[^:/?#]|\/)[^\\#]*$/i;

/**
 * The rejection for a request that Node's parser accepts: a Host field that is missing (allowed in HTTP/1.0: load balancers
 * probe without it), repeated or malformed, or another target than a path (RFC 9112, section 3.2). null if it is valid.
 * Needs `joinDuplicateHeaders`: a repeated field, joined with a comma and a space, is malformed.
 */
export function requestRejection({ headers: { host }, httpVersion, url = '' }: IncomingMessage): HttpError | null {
  if (host === undefined ? httpVersion !== '1.0' : !isHost(host)) return invalidRequest(CLIENT_MESSAGES.badHost);
  return TARGET.test(url) && (url.startsWith('/') || URL.canParse(url)) ? null : BAD_TARGET;
}

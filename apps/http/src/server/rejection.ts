import { STATUS_CODES } from 'node:http';
import { BODY_IS_INCOMPLETE, type HttpError, type HttpResponse, invalidRequest } from '../app/errors.ts';
import { CLIENT_MESSAGES } from '../app/messages.ts';
import type { NodeRequest } from './request.ts';

/** Of the request target and the header fields, in bytes. */
export const MAX_HEADER_SIZE = 16 * 1024;

/** A tunnel (RFC 9110, section 9.3.6) is for proxies. */
export const NO_TUNNEL = invalidRequest(CLIENT_MESSAGES.noTunnel);

/** The rejection for an error of Node's event `clientError`. */
export function parserRejection({ code, message }: NodeJS.ErrnoException): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return invalidRequest(CLIENT_MESSAGES.late, 408);
  if (code === 'HPE_HEADER_OVERFLOW') return invalidRequest(CLIENT_MESSAGES.headerIsTooLarge(MAX_HEADER_SIZE), 431);
  if (code === 'HPE_INVALID_EOF_STATE') return BODY_IS_INCOMPLETE;
  return invalidRequest(CLIENT_MESSAGES.malformed(message.replace(/^Parse Error: /, '')));
}

const BAD_HOST = invalidRequest(CLIENT_MESSAGES.badHost);
const BAD_TARGET = invalidRequest(CLIENT_MESSAGES.badTarget);

/** uri-host [":" port] (RFC 9110, section 7.2; RFC 3986, section 3.2.3). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=-]+)(?::\d*)?$/i;

/** A target in origin form, or in absolute form with a host (RFC 9112, section 3.2; RFC 9110, section 4.2). */
const TARGET = /^(?:https?:\/\/(?:[^/?#]*@)?[^:/?#]|\/)[^\\#]*$/i;

// Most requests have the same Host field, and parsing one takes 1 µs.
let lastHost = { given: '', normalized: '' };

/**
 * Normalizes the Host field and the target, because the adapter for Hono knows no other forms than those of URLs: `[::1]` for
 * `[0:0::1]`, and the target in origin form. Needs `joinDuplicateHeaders`: a repeated Host field, joined with a comma and a
 * space, is malformed.
 *
 * @returns The rejection for a Host field that is missing (allowed in HTTP/1.0: load balancers probe without it), repeated or
 * malformed, or for another target than a path (RFC 9112, section 3.2); null if both are valid.
 */
export function normalizeTarget(request: NodeRequest): HttpError | null {
  const { host = request.httpVersion === '1.0' ? '' : null } = request.headers;
  if (host === null) return BAD_HOST;
  // An empty one is valid.
  if (host !== '' && host !== lastHost.given) {
    const url = HOST.test(host) ? URL.parse(`http://${host}`) : null;
    if (url === null) return BAD_HOST;
    lastHost = { given: host, normalized: url.host };
  }
  request.headers.host = host && lastHost.normalized;
  const target = request.url ?? '';
  if (!TARGET.test(target)) return BAD_TARGET;
  if (target.startsWith('/')) return null;
  const url = URL.parse(target);
  if (url === null) return BAD_TARGET;
  request.url = url.pathname + url.search;
  return null;
}

/** A response that closes the connection, for a socket without a response object (RFC 9112). */
export function bytesOf({ status, headers, body }: HttpResponse): string {
  const length = String(Buffer.byteLength(body));
  const own = { date: new Date().toUTCString(), connection: 'close', 'content-length': length };
  const fields = Object.entries({ ...headers, ...own }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`;
}

import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.ts';
import { HttpError } from './http-error.ts';

/** Node's request, and what became of it. */
export interface Incoming extends IncomingMessage {
  /** Why it can't be served, whatever it asks for. */
  refusal?: HttpError;
  /** There once it has reached a route. */
  exchange?: Exchange;
}

/** uri-host [":" port] (RFC 9110, section 7.2; RFC 3986, section 3.2): the host and the port may both be empty. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** What stands before the path of an absolute target (RFC 9112, section 3.2.2). */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#]*/i;

/** A target in origin form, of the characters that a URL has (RFC 3986, appendix A). */
const PLAIN = /^\/[!#-;=?-[\]_a-z~]*$/;
const FOREIGN = /[^!#-;=?-[\]_a-z~]/g;

/**
 * Makes of Host and request target what @hono/node-server can always make a URL of, so that every request reaches a route
 * or is told by the application that there is none. The host says nothing here: one service, whatever it is called.
 *
 * Needs `joinDuplicateHeaders`. A Host field that is missing, repeated or malformed becomes the request's refusal, which RFC
 * 9112, section 3.2, demands (of HTTP/1.1 only: load balancers probe with HTTP/1.0 and without the field).
 */
export function normalizeTarget(incoming: Incoming): void {
  const { headers, url = '' } = incoming;
  const host = headers.host ?? (incoming.httpVersion === '1.0' ? '' : null);
  headers.host = 'localhost';
  if (incoming.httpVersionMajor !== 1) {
    // Node's parser takes 0.9 and 2.0 for versions that are written like this.
    refuse(incoming, 'only HTTP/1.1 and HTTP/1.0 are spoken here');
  } else if (host === null || !HOST.test(host)) {
    refuse(incoming, 'send one Host field that names a host, or host:port');
  } else if (!PLAIN.test(url)) {
    incoming.url = plain(url);
  }
}

function refuse(incoming: Incoming, message: string): void {
  incoming.refusal = new HttpError('invalid_request', message);
  incoming.url = '/';
}

function plain(target: string): string {
  const path = target.replace(SCHEME_AND_AUTHORITY, '');
  const escaped = path.replace(FOREIGN, encodeURIComponent);
  return escaped.startsWith('/') ? escaped : `/${escaped}`;
}

import { type HttpError, invalidRequest } from '../app/errors.ts';
import { CLIENT_MESSAGES } from '../app/messages.ts';
import type { NodeRequest } from './request.ts';

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

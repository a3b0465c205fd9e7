import type { IncomingMessage } from 'node:http';

/** The scheme and the authority before the path of an absolute target (RFC 9112, section 3.2.2). */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#]*/i;

/** A target in origin form, of the characters that a URL has (RFC 3986, appendix A). */
const PLAIN = /^\/[!#-;=?-[\]_a-z~]*$/;
const FOREIGN = /[^!#-;=?-[\]_a-z~]/g;

/**
 * Rewrites Host field and request target so that @hono/node-server can make a URL of them, and every request reaches a route. The
 * service ignores the host: it serves the same under every name.
 */
export function normalizeTarget(incoming: IncomingMessage): void {
  incoming.headers.host = 'localhost';
  const { url = '' } = incoming;
  if (!PLAIN.test(url)) incoming.url = plain(url);
}

function plain(target: string): string {
  const path = target.replace(SCHEME_AND_AUTHORITY, '');
  const escaped = path.replace(FOREIGN, encodeURIComponent);
  return escaped.startsWith('/') ? escaped : `/${escaped}`;
}

/**
 * The path of a request, percent-decoded once: `/v1/pets/%37` is `/v1/pets/7`, `/v1/pets/%2537` is `/v1/pets/%37`, an
 * encoded slash separates nothing. A path with a malformed escape stays as it was sent.
 *
 * @param request Anything with an absolute URL.
 */
export function requestPath({ url }: { url: string }): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', start);
  const path = query === -1 ? url.slice(start) : url.slice(start, query);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Everything after the first question mark of a URL; empty if there is none. */
export function queryString({ url }: { url: string }): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

/**
 * The values of a parameter in a query string, as `URLSearchParams` has them. A string without escapes is split here, at a
 * tenth of the cost.
 *
 * @param text The query string without its question mark.
 */
export function parameterValues(text: string, name: string): string[] {
  if (/[%+]/.test(text)) return new URLSearchParams(`?${text}`).getAll(name);
  const values: string[] = [];
  for (const pair of text.split('&')) {
    if (!pair.startsWith(name)) continue;
    if (pair.length === name.length) values.push('');
    else if (pair[name.length] === '=') values.push(pair.slice(name.length + 1));
  }
  return values;
}

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

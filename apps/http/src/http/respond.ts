import type { Exchange, Observer } from './exchange.ts';
import { type Headers, type HttpResponse, JSON_ONLY } from './response.ts';

/**
 * Header fields of every response (OWASP REST Security Cheat Sheet): no content sniffing, no caching, nothing for a browser to
 * run.
 */
export const SECURITY_HEADERS: Headers = Object.freeze({
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
});

/**
 * Ends an exchange in the one shape that @hono/node-server writes without building a Fetch API response: a string or bytes,
 * and a plain object of header fields. Reading `.headers` or `.body` of the result loses that.
 */
export function respond(exchange: Exchange, response: HttpResponse, observer: Observer): Response {
  const { status, body, headers } = response;
  const bytes = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  const duration = performance.now() - exchange.startedAt;
  observer.end(exchange, response, bytes, duration);
  return new Response(body, {
    status,
    // Copying one object and setting members is fast in V8, copying a second one into it is not.
    headers:
      headers === JSON_ONLY
        ? { ...exchange.headers, 'content-type': 'application/json', 'x-request-id': exchange.id }
        : { ...exchange.headers, ...headers, 'x-request-id': exchange.id },
  });
}

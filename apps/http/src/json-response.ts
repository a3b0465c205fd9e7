import type { Headers } from './http-error.ts';

const JSON_ONLY: Headers = Object.freeze({ 'content-type': 'application/json' });

/**
 * An answer of JSON text in the one shape that @hono/node-server writes without building a Fetch API response: a string
 * body and a plain object of header fields. Whoever reads `.headers` or `.body` of it gives that up.
 */
export function jsonResponse(text: string, status = 200, headers?: Headers): Response {
  return new Response(text, { status, headers: headers ? { ...JSON_ONLY, ...headers } : JSON_ONLY });
}

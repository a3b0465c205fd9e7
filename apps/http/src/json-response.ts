import type { Headers } from './http-error.ts';

/** The header fields of a JSON answer. */
export interface JsonHeaders extends Headers {
  readonly 'content-type': 'application/json';
}

/** The header fields of a JSON answer, with others beside its type. Made once where they are always the same. */
export function jsonHeaders(others?: Headers): JsonHeaders {
  return Object.freeze({ 'content-type': 'application/json', ...others });
}

const JSON_ONLY = jsonHeaders();

/**
 * An answer of JSON text in the one shape that @hono/node-server writes without building a Fetch API response: a string
 * body and a plain object of header fields. Whoever reads `.headers` or `.body` of it gives that up.
 */
export function jsonResponse(text: string, status = 200, headers = JSON_ONLY): Response {
  return new Response(text, { status, headers });
}

import type { Context } from 'hono';
import type { Env } from './env.ts';
import { errorReply, type HeaderFields, type Reply } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { preflightOrigin } from './incoming-request.ts';
import { rejectedOrigin } from './messages.ts';

/**
 * Header fields of every response, besides the id of its request (OWASP REST Security Cheat Sheet): no content sniffing, no
 * caching, nothing for a browser to run.
 */
const FIELDS: HeaderFields = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** What a response is completed by. */
interface Begun extends Pick<Exchange, 'record'> {
  readonly fields: HeaderFields;
}

/** null: none. */
export type Body = string | Uint8Array<ArrayBuffer> | null;

/** Makes the response of a handler or middleware. Nothing else makes one. */
export function respond(exchange: Exchange, reply: Reply<Body>): Response {
  return responseOf(complete(exchange, reply));
}

/** Makes the response to a request that ended in an error, for `app.onError`. */
export function respondToError(error: unknown, c: Context<Env>): Response {
  // Hono would add the header fields of a response that was made before.
  if (c.finalized) c.res = undefined;
  const exchange = c.get('exchange');
  const origin = preflightOrigin(exchange.request);
  if (origin !== undefined) exchange.record.details = rejectedOrigin(origin);
  return responseOf(completeError(exchange, error));
}

/** Completes the record of a request by its response, and the response by the header fields of every response. */
function complete<B extends Body>({ record, fields }: Begun, { status, headers, body }: Reply<B>): Reply<B> {
  record.status = status;
  record.bytes = body === null ? 0 : Buffer.byteLength(body);
  return { status, headers: { ...FIELDS, 'x-request-id': record.id, ...fields, ...headers }, body };
}

/** Completes the record of a request and its response by an error. */
export function completeError(exchange: Begun, error: unknown): Reply {
  // In a record, undefined means that there was none.
  exchange.record.error = error === undefined ? new Error('undefined was thrown') : error;
  return complete(exchange, errorReply(error));
}

/**
 * Turns a complete reply into a response. All header fields are given at once, as a plain object: then @hono/node-server makes no
 * objects of the Fetch API, as it does after `c.header()` and `c.json()`.
 */
export function responseOf({ status, headers, body }: Reply<Body>): Response {
  // An empty text would get a Content-Type.
  return new Response(body === '' ? null : body, { status, headers });
}

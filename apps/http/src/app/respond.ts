import { errorReply, type HeaderFields, type Reply } from './errors.ts';
import type { Exchange } from './exchange.ts';

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

/** Completes the record of a request by its response, and the response by the header fields of every response. */
export function complete<B extends Body>({ record, fields }: Begun, { status, headers, body }: Reply<B>): Reply<B> {
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
 * Makes the response of a complete reply. Nothing else makes one. All header fields are given at once, as a plain object: then
 * @hono/node-server makes no objects of the Fetch API, as it does after `c.header()` and `c.json()`.
 */
export function responseOf({ status, headers, body }: Reply<Body>): Response {
  // An empty text would get a Content-Type.
  return new Response(body === '' ? null : body, { status, headers });
}

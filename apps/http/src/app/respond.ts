import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { StatusCode } from 'hono/utils/http-status';
import type { Env } from './env.ts';
import { errorResponse, type HeaderFields, type Reply } from './errors.ts';

/**
 * Makes the response of a handler, with all its header fields at once: a plain object takes the fast path of @hono/node-server,
 * which `c.header()` and `c.json()` leave.
 */
export function respond(c: Context<Env>, reply: Reply<string | Uint8Array<ArrayBuffer> | null>): Response {
  const served = c.get('served');
  const { status, headers, body } = reply;
  served.record.bytes = body === null ? 0 : Buffer.byteLength(body);
  // An empty text would get a Content-Type.
  const content = body === '' ? null : body;
  // Hono adds what middleware has set by `c.header` to responses of its own only.
  const { headers: prepared } = c.newResponse(null);
  served.response = prepared.keys().next().done
    ? new Response(content, { status, headers: { ...served.fields, ...headers } })
    : c.newResponse(content, status as StatusCode, { ...missingIn(prepared, served.fields), ...headers });
  return served.response;
}

/** The header fields that a response lacks. */
export function missingIn(headers: Headers, fields: HeaderFields): HeaderFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !headers.has(name)));
}

/** For `app.onError`: the response to a request that ended in an error, with an Error body unless it is Hono's own. */
export function respondToError(error: unknown, c: Context<Env>): Response {
  // Hono would add the fields of the response that was made before, its Content-Length among them.
  if (c.finalized) c.res = undefined;
  if (error instanceof HTTPException) {
    const response = error.getResponse();
    // The exception's own response lacks what middleware has set by `c.header`.
    return c.newResponse(response.body, response);
  }
  c.get('served').record.error = error;
  return respond(c, errorResponse(error));
}

import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { StatusCode } from 'hono/utils/http-status';
import type { Env, Middleware, ServedRequest } from './env.ts';
import { errorResponse, type Reply } from './errors.ts';

/**
 * Makes the response of a handler, with all its header fields at once: a plain object takes the fast path of @hono/node-server,
 * which `c.header()` and `c.json()` leave.
 */
export function respond(c: Context<Env>, reply: Reply<string | Uint8Array<ArrayBuffer> | null>): Response {
  const served = c.get('served');
  const { fields, record, keepsHeaders } = served;
  const { status, headers, body } = reply;
  record.bytes = body === null ? 0 : Buffer.byteLength(body);
  // An empty text would get a Content-Type.
  const content = body === '' ? null : body;
  // `addMissingFields` adds the rest.
  if (keepsHeaders) return c.newResponse(content, status as StatusCode, { ...headers });
  served.response = new Response(content, { status, headers: { ...fields, ...headers, 'x-request-id': record.id } });
  return served.response;
}

/** Makes `respond` keep what middleware behind this one sets by `c.header` before it calls `next`, on the slower path. */
export const keepHeaders: Middleware = (c, next) => {
  c.get('served').keepsHeaders = true;
  return next();
};

/** For `app.onError`: the response to a request that ended in an error, with an Error body unless it is Hono's own. */
export function respondToError(error: unknown, c: Context<Env>): Response {
  const { record } = c.get('served');
  if (c.finalized) {
    // Hono would add the fields of the response that was made before, its Content-Length among them.
    c.res = undefined;
    record.bytes = undefined;
  }
  if (error instanceof HTTPException) {
    const response = error.getResponse();
    // The exception's own response lacks what middleware has set by `c.header`.
    return c.newResponse(response.body, response);
  }
  record.error = error;
  return respond(c, errorResponse(error));
}

/** Gives a response that `respond` has not made, or that middleware has replaced, the header fields that it lacks. */
export function addMissingFields(c: Context<Env>, { fields, record }: ServedRequest): void {
  const length = c.res.headers.get('content-length');
  if (length !== null) record.bytes = Number(length);
  for (const [name, value] of Object.entries({ ...fields, 'x-request-id': record.id })) {
    if (!c.res.headers.has(name)) c.header(name, value);
  }
}

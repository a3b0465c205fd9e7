import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
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
  const prepared = preparedIn(c);
  served.response = new Response(content, {
    status,
    headers: prepared === null ? { ...served.fields, ...headers } : merged(prepared, served.fields, headers),
  });
  return served.response;
}

/**
 * A copy of the header fields that middleware has set by `c.header`, which Hono adds to responses of its own only; null if there
 * are none. An error that replaces a response has none: Hono adds the fields of a response to them.
 */
function preparedIn(c: Context<Env>): Headers | null {
  if (c.finalized) return null;
  const { headers } = c.newResponse(null);
  if (headers.keys().next().done) return null;
  // They are of a body that was made, but is not returned. Hono would add those that are set there again.
  for (const name of ['content-length', 'content-encoding'].filter((each) => headers.has(each))) {
    c.header(name, undefined);
    headers.delete(name);
  }
  return headers;
}

function merged(prepared: Headers, fields: HeaderFields, own: HeaderFields): Headers {
  for (const [name, value] of Object.entries(missingIn(prepared, fields))) prepared.append(name, value);
  for (const [name, value] of Object.entries(own)) prepared.set(name, value);
  return prepared;
}

/** The header fields that are to be appended to those of a response: one that it has stays, but `Vary` is a list (RFC 9110, 12.5.5). */
export function missingIn(headers: Headers, fields: HeaderFields): HeaderFields {
  const isMissing = ([name, value]: [string, string]) =>
    name === 'vary' ? !headers.get(name)?.toLowerCase().split(/, */).includes(value.toLowerCase()) : !headers.has(name);
  return Object.fromEntries(Object.entries(fields).filter(isMissing));
}

/** For `app.onError`: the response to a request that ended in an error, with an Error body unless it is Hono's own. */
export function respondToError(error: unknown, c: Context<Env>): Response {
  // Hono would add the fields of the response that was made before, its Content-Length among them.
  if (c.finalized) c.res = undefined;
  if (error instanceof HTTPException) {
    const { body, status, headers } = error.getResponse();
    // The exception's own response lacks what middleware has set by `c.header`.
    const fields = preparedIn(c) ?? new Headers();
    for (const [name, value] of headers) fields[name === 'set-cookie' ? 'append' : 'set'](name, value);
    return new Response(body, { status, headers: fields });
  }
  c.get('served').record.error = error;
  return respond(c, errorResponse(error));
}

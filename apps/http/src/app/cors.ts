import type { Middleware } from './env.ts';
import type { HeaderFields } from './errors.ts';
import { preflightOrigin, type RequestHead } from './incoming-request.ts';
import { rejectedOrigin } from './messages.ts';
import { respond } from './respond.ts';

const PREFLIGHT: HeaderFields = {
  'access-control-allow-methods': 'GET,HEAD,POST',
  'access-control-allow-headers': [
    ...['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Request-Id', 'traceparent'],
    // Of MCP.
    ...['Mcp-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method', 'Mcp-Name'],
  ].join(','),
  'access-control-max-age': '600',
};

const EXPOSED = [
  ...['Link', 'Location', 'Retry-After', 'Deprecation', 'Sunset', 'RateLimit', 'RateLimit-Policy'],
  ...['WWW-Authenticate', 'Allow', 'Idempotent-Replayed', 'X-Request-Id'],
].join(',');

/**
 * The header fields by which scripts of other origins may read a response.
 *
 * @param origins `*` for all; none if it is empty.
 */
export function corsFields(origins: ReadonlySet<string>): (request: RequestHead) => HeaderFields {
  if (origins.size === 0) return () => ({});
  const isForAll = origins.has('*');
  const fields = { 'access-control-expose-headers': EXPOSED, ...(isForAll ? {} : { vary: 'Origin' }) };
  return (request) => {
    const origin = request.header('origin') ?? '';
    if (!isForAll && !origins.has(origin)) return fields;
    return { ...fields, 'access-control-allow-origin': isForAll ? '*' : origin };
  };
}

/**
 * Lets scripts of other origins read responses, those to errors included, and responds to their preflights. Hono's `cors()` adds
 * its fields to the response that an error may replace.
 *
 * @param origins `*` for all.
 */
export function allowOrigins(origins: ReadonlySet<string>): Middleware {
  const fieldsFor = corsFields(origins);
  return async (c, next) => {
    const exchange = c.get('exchange');
    const { request, record, fields } = exchange;
    Object.assign(fields, fieldsFor(request));
    const origin = preflightOrigin(request);
    if (origin === undefined) return next();
    if (fields['access-control-allow-origin'] === undefined) record.details = rejectedOrigin(origin);
    return respond(exchange, { status: 204, headers: PREFLIGHT, body: null });
  };
}

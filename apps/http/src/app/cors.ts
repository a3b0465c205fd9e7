import { cors } from 'hono/cors';
import type { Middleware } from './env.ts';

const OPTIONS = {
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: [
    ...['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Request-Id', 'traceparent'],
    // Of MCP.
    ...['Mcp-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method', 'Mcp-Name'],
  ],
  maxAge: 600,
};

const EXPOSED = [
  ...['Link', 'Location', 'Retry-After', 'Deprecation', 'Sunset', 'RateLimit', 'RateLimit-Policy'],
  ...['WWW-Authenticate', 'Allow', 'Idempotent-Replayed', 'X-Request-Id'],
].join(',');

/**
 * Lets scripts of other origins read responses, those to errors included: Hono's `cors()` adds its fields to the response that an
 * error may replace, so it responds to preflights only.
 *
 * @param origins `*` for all.
 */
export function allowOrigins(origins: ReadonlySet<string>): Middleware {
  const isForAll = origins.has('*');
  const respondToPreflight = cors({ ...OPTIONS, origin: isForAll ? '*' : [...origins] });
  return (c, next) => {
    const { incoming, fields } = c.get('served');
    const origin = incoming.header('origin');
    // Fetch, section 3.2.2.
    const isPreflight = c.req.method === 'OPTIONS' && origin && incoming.header('access-control-request-method');
    if (isPreflight) return respondToPreflight(c, next);
    fields['access-control-expose-headers'] = EXPOSED;
    if (!isForAll) fields['vary'] = 'Origin';
    const allowed = isForAll ? '*' : origins.has(origin ?? '') && origin;
    if (allowed) fields['access-control-allow-origin'] = allowed;
    return next();
  };
}

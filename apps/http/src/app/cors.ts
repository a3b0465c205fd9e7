import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { Env } from './env.ts';

const OPTIONS = {
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: [
    ...['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Request-Id', 'traceparent'],
    // Of MCP.
    ...['Mcp-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method', 'Mcp-Name'],
  ],
  exposeHeaders: [
    ...['Link', 'Location', 'Retry-After', 'Deprecation', 'Sunset', 'RateLimit', 'RateLimit-Policy'],
    ...['WWW-Authenticate', 'Allow', 'Idempotent-Replayed', 'X-Request-Id'],
  ],
  maxAge: 600,
};

/**
 * Lets scripts of other origins read responses.
 *
 * @param origins `*` for all.
 */
export function allowOrigins(origins: ReadonlySet<string>): MiddlewareHandler<Env> {
  const allow = cors({ ...OPTIONS, origin: origins.has('*') ? '*' : [...origins] });
  return (c, next) => {
    // Fetch, section 3.2.2.
    const isPreflight = c.req.header('origin') && c.req.header('access-control-request-method');
    // `cors()` would respond to every OPTIONS; only preflights are its business.
    return c.req.method !== 'OPTIONS' || isPreflight ? allow(c, next) : next();
  };
}

import type { HeaderFields, Reply } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { preflightOrigin, type RequestHead } from './incoming-request.ts';
import { rejectedOrigin } from './messages.ts';
import type { Guard } from './route.ts';

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

/** Lets scripts of other origins read responses, those to errors included. */
export function allowOrigins(origins: ReadonlySet<string>): Guard {
  const fieldsFor = corsFields(origins);
  return ({ request, fields }) => void Object.assign(fields, fieldsFor(request));
}

/**
 * The response to a preflight; undefined if a request is none, or its path has no fields of `allowOrigins`. An origin without
 * access is recorded.
 */
export function respondToPreflight({ request, record, fields }: Exchange): Reply<null> | undefined {
  const origin = preflightOrigin(request);
  if (origin === undefined) return undefined;
  if (fields['access-control-allow-origin'] === undefined) record.details = rejectedOrigin(origin);
  return 'access-control-expose-headers' in fields ? { status: 204, headers: PREFLIGHT, body: null } : undefined;
}

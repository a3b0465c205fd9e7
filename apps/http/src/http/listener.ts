import type { IncomingRequest, OutgoingResponse } from '@animal-store/http-server';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { type OnUnexpectedError, SECURITY_HEADERS } from './exchange.ts';
import { errorResponse } from './http-error.ts';
import type { Env } from './operation.ts';

/**
 * Makes a listener for Node's requests of an application.
 *
 * @param onUnexpectedError Called for errors outside of its handlers.
 */
export function createListener(app: Hono<Env>, onUnexpectedError: OnUnexpectedError) {
  const listener = getRequestListener(
    // A HEAD request is a GET request to the application. Node drops the body and keeps its length.
    (request, env) => app.fetch(request.method === 'HEAD' ? asGet(request) : request, env as Env['Bindings']),
    {
      // Clients that are still sending their body would be disconnected after half a second.
      autoCleanupIncoming: false,
      errorHandler(error) {
        // The request and its id are not available here.
        const id = crypto.randomUUID();
        onUnexpectedError(error, id);
        const { status, headers, body } = errorResponse(error);
        return new Response(body, { status, headers: { ...SECURITY_HEADERS, ...headers, 'x-request-id': id } });
      },
    },
  );
  return (incoming: IncomingRequest, outgoing: OutgoingResponse): void => {
    normalizeTarget(incoming);
    listener(incoming, outgoing);
  };
}

function asGet(request: Request): Request {
  return Object.create(request, { method: { value: 'GET' } }) as Request;
}

/** The scheme and the authority before the path of an absolute target (RFC 9112, section 3.2.2). */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#]*/i;

/** A target in origin form, of the characters that a path and a query have (RFC 3986, appendix A), and brackets. */
const PLAIN = /^\/[!$-;=?-[\]_a-z~]*$/;
const FOREIGN = /[^!$-;=?-[\]_a-z~]/g;

/**
 * Rewrites Host field and request target so that @hono/node-server can make a URL of them, and every request reaches a
 * route. The service ignores the host: it serves the same under every name.
 */
function normalizeTarget(incoming: IncomingRequest): void {
  incoming.headers.host = 'localhost';
  const url = incoming.url as string;
  if (PLAIN.test(url)) return;
  const path = url.replace(SCHEME_AND_AUTHORITY, '').replace(FOREIGN, encodeURIComponent);
  incoming.url = path.startsWith('/') ? path : `/${path}`;
}

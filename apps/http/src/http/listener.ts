import type { IncomingRequest, OutgoingResponse } from '@animal-store/http-server';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { OnUnexpectedError } from './exchange.ts';
import { SECURITY_HEADERS } from './handler.ts';
import { errorResponse } from './http-error.ts';
import type { Env } from './operation.ts';
import { normalizeTarget } from './url.ts';

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
        // The request is not at hand, so its own id is not either.
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

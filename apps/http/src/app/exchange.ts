import type { Context } from 'hono';
import { errorResponse, type HeaderFields, OVERLOADED, type Reply } from './errors.ts';
import type { Env, Handle, HandlerOptions } from './handler.ts';
import { fromFetch } from './incoming.ts';
import { beginRecord, type Observe, type RequestRecord, type Sender } from './record.ts';
import { createTurn } from './turn.ts';

/**
 * Header fields of every response (OWASP REST Security Cheat Sheet): no content sniffing, no caching, nothing for a browser to
 * run.
 */
const SECURITY_HEADERS: HeaderFields = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The route of requests that match none, in records. */
export const UNMATCHED = 'unmatched';
/** The route of bytes that are not a request, in records. */
const UNPARSABLE = 'unparsable';

/** How many requests whose body has arrived may be in flight. Beyond, requests that need admission are rejected. */
const IN_FLIGHT_MAX = 1_000;

/** Wraps handlers: admission, load shedding, records, request ids, errors as bodies. */
export interface Exchange {
  /** How many requests have no response yet. */
  inFlight(): number;
  /** Makes the one handler of a route. */
  handler(route: string, handle: Handle, options?: HandlerOptions): (c: Context<Env>) => Promise<Response>;
  /** The response to a request that no handler gets. */
  reject(error: unknown, sender: Sender): Reply;
}

/**
 * @param observers Are notified of each request.
 * @param trustedProxies How many proxies in front of the service add the address of the client to X-Forwarded-For.
 */
export function createExchange(observers: readonly Observe[] = [], trustedProxies = 0): Exchange {
  let inFlight = 0;
  /** How many of them wait for their bodies. */
  let receiving = 0;
  const endOfTurn = createTurn();

  /** Notifies the observers, and returns the header fields of the response. */
  function finish(record: RequestRecord, response: Reply, headers: HeaderFields): HeaderFields {
    for (const observe of observers) observe(record, response);
    return { ...headers, ...response.headers, 'x-request-id': record.id };
  }

  return {
    inFlight: () => inFlight,
    handler(route, handle, { headers: routeHeaders, admit } = {}) {
      const fixedHeaders = { ...SECURITY_HEADERS, ...routeHeaders };
      return async (c) => {
        // `app.request()` gives no environment.
        const incoming = c.env?.serverRequest ?? fromFetch(c.req.raw);
        const record = beginRecord(incoming, c.req.method, route, trustedProxies);
        let headers: HeaderFields = fixedHeaders;
        let response: Reply;
        inFlight += 1;
        async function readBody(): Promise<Buffer> {
          receiving += 1;
          try {
            return await incoming.readBody();
          } finally {
            receiving -= 1;
          }
        }
        try {
          if (admit !== undefined) {
            if (inFlight - receiving > IN_FLIGHT_MAX) throw OVERLOADED;
            const admission = await admit(incoming);
            record.key = admission.key;
            record.details = admission.details;
            if (admission.headers !== undefined) headers = { ...headers, ...admission.headers };
            if (admission.rejection !== null) throw admission.rejection;
          }
          const handled = await handle(c, { incoming, holder: record.key?.holder ?? '', readBody });
          record.error = handled.error ?? null;
          record.details = handled.details;
          response = handled;
        } catch (error) {
          record.error = error;
          response = errorResponse(error);
        }
        inFlight -= 1;
        await endOfTurn();
        // A string and a plain header object take node-server's fast path.
        return new Response(response.body, { status: response.status, headers: finish(record, response, headers) });
      };
    },
    reject(error, sender) {
      const route = sender.method === undefined ? UNPARSABLE : UNMATCHED;
      const record = { ...beginRecord(sender, sender.method ?? '-', route, trustedProxies), error };
      const response = errorResponse(error);
      return { ...response, headers: finish(record, response, SECURITY_HEADERS) };
    },
  };
}

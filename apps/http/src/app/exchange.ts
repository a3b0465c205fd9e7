import type { AuthenticatedKey } from '@animal-store/domain/transport';
import type { Context } from 'hono';
import { errorResponse, type Headers, type HttpResponse, OVERLOADED } from './errors.ts';
import { forwardedAddress } from './forwarded.ts';
import type { Env, Handle, HandlerOptions } from './handler.ts';
import { fromFetch, type Incoming } from './incoming.ts';
import { createTurn } from './turn.ts';

/**
 * Header fields of every response (OWASP REST Security Cheat Sheet): no content sniffing, no caching, nothing for a browser to
 * run.
 */
const SECURITY_HEADERS: Headers = {
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

/** One request for the log and the metrics. */
export interface RequestRecord {
  /** The X-Request-Id of the request if it is well-formed, otherwise a new UUID; returned with the response. */
  readonly id: string;
  readonly method: string;
  /** The path with the names of its parameters, or `unmatched`: one of few values, whatever a client sends. */
  readonly route: string;
  /** The trace id of the request's traceparent (W3C Trace Context, level 2), or null. */
  readonly traceId: string | null;
  /** On the monotonic clock of `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  /** The address of the client, one of IPv4 without the prefix of IPv6; null if it is unknown. */
  readonly client: string | null;
  /** The key of the request, if it is valid. */
  readonly key: AuthenticatedKey | null;
  /** The error that became the response, or null. */
  readonly error: unknown;
  /** Further fields of the line in the log. */
  readonly details: Headers | undefined;
}

/** Is notified of each request with its response. */
export type Observe = (record: RequestRecord, response: HttpResponse) => void;

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/i;
/** Version 00 has exactly 55 characters, later ones may have more. */
const TRACEPARENT = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/** Wraps handlers: admission, load shedding, records, request ids, errors as bodies. */
export interface Exchange {
  /** How many requests have no response yet; a batch counts as its messages. */
  inFlight(): number;
  /** Makes the one handler of a route. */
  handler(route: string, handle: Handle, options?: HandlerOptions): (c: Context<Env>) => Promise<Response>;
  /** The response to a request that no handler gets. `incoming` is null for bytes that are not a request. */
  reject(
    error: unknown,
    incoming: (Incoming & { method?: string | undefined }) | null,
    address: string | null,
  ): HttpResponse;
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

  /** Throws `service_unavailable` if too many requests are in flight. Those that wait for their bodies do not count. */
  function requireCapacity(): void {
    if (inFlight - receiving > IN_FLIGHT_MAX) throw OVERLOADED;
  }

  function begin(incoming: Incoming | null, method: string, route: string, address: string | null) {
    const id = incoming?.header('x-request-id');
    const traceparent = incoming?.header('traceparent');
    const forwarded = trustedProxies > 0 ? incoming?.header('x-forwarded-for') : undefined;
    const client = (forwarded === undefined ? null : forwardedAddress(forwarded, trustedProxies)) ?? address;
    return {
      id: id !== undefined && REQUEST_ID.test(id) ? id : crypto.randomUUID(),
      method,
      route,
      traceId: traceparent === undefined ? null : (TRACEPARENT.exec(traceparent)?.[1] ?? null),
      startedAt: performance.now(),
      client: client?.replace(IPV4_IN_IPV6, '') ?? null,
      key: null as AuthenticatedKey | null,
      error: null as unknown,
      details: undefined as Headers | undefined,
    };
  }

  return {
    inFlight: () => inFlight,
    handler(route, handle, { headers: routeHeaders, admit } = {}) {
      const fixedHeaders = { ...SECURITY_HEADERS, ...routeHeaders };
      return async (c) => {
        // `app.request()` gives no environment.
        const incoming = c.env?.serverRequest ?? fromFetch(c.req.raw);
        const record = begin(incoming, c.req.method, route, incoming.clientAddress);
        let headers: Headers = fixedHeaders;
        let response: HttpResponse;
        let weight = 1;
        inFlight += 1;
        function weigh(more: number): void {
          weight += more;
          inFlight += more;
          requireCapacity();
        }
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
            requireCapacity();
            const admission = await admit(incoming);
            record.key = admission.key;
            record.details = admission.details;
            if (admission.headers !== undefined) headers = { ...headers, ...admission.headers };
            if (admission.rejection !== null) throw admission.rejection;
          }
          const handled = await handle(c, { incoming, holder: record.key?.holder ?? '', weigh, readBody });
          record.error = handled.error ?? null;
          record.details = handled.details;
          response = handled;
        } catch (error) {
          record.error = error;
          response = errorResponse(error);
        }
        inFlight -= weight;
        await endOfTurn();
        for (const observe of observers) observe(record, response);
        // A string and a plain header object take node-server's fast path.
        const { status, body } = response;
        return new Response(body, { status, headers: { ...headers, ...response.headers, 'x-request-id': record.id } });
      };
    },
    reject(error, incoming, address) {
      const route = incoming === null ? UNPARSABLE : UNMATCHED;
      const record = { ...begin(incoming, incoming?.method ?? '-', route, address), error };
      const response = errorResponse(error);
      for (const observe of observers) observe(record, response);
      return { ...response, headers: { ...SECURITY_HEADERS, ...response.headers, 'x-request-id': record.id } };
    },
  };
}

import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Env, Middleware, ServedRequest } from './env.ts';
import { BODY_IS_TOO_LARGE, errorResponse, OVERLOADED, type Reply } from './errors.ts';
import { fromFetch } from './incoming.ts';
import { BODY_MAX_BYTES } from './messages.ts';
import { beginRecord, type Observe, type RequestRecord, type Sender } from './record.ts';
import { missingIn, respondToError } from './respond.ts';
import { createTurn } from './turn.ts';

/**
 * Header fields of every response (OWASP REST Security Cheat Sheet): no content sniffing, no caching, nothing for a browser to
 * run.
 */
const fieldsOf = ({ id }: RequestRecord) => ({
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-request-id': id,
});

/** The route of requests that match none, in records. */
export const UNMATCHED = 'unmatched';
/** The route of bytes that are not a request, in records. */
const UNPARSABLE = 'unparsable';

/** How many requests whose body has arrived may be in flight. Beyond, operations are rejected. */
const IN_FLIGHT_MAX = 1_000;

export interface ExchangeOptions {
  /** Are notified of each request, when its response is ready. */
  readonly observers?: readonly Observe[];
  /** Is notified of an error that an observer throws; the response is sent nevertheless. */
  readonly onObserverError?: (error: unknown, record: Readonly<RequestRecord>) => void;
  /**
   * How many proxies in front of the service add the address of the client to X-Forwarded-For.
   *
   * @default 0
   */
  readonly trustedProxies?: number | undefined;
}

/** What every request gets, whatever its response: a record for the observers, an id, header fields. */
export interface Exchange {
  /** How many requests have no response yet. */
  inFlight(): number;
  /** Resolves when the observers have been notified of all requests so far, those in flight included. */
  allRecorded(): Promise<void>;
  /** For every path, before any other middleware. */
  readonly middleware: Middleware;
  /** Rejects requests with 503 while too many are in flight. */
  readonly shedLoad: Middleware;
  /** The response to a request that the application does not get. */
  reject(error: unknown, sender: Sender): Reply;
}

export function createExchange({
  observers = [],
  onObserverError,
  trustedProxies = 0,
}: ExchangeOptions = {}): Exchange {
  let inFlight = 0;
  let unrecorded = 0;
  let allRecorded: PromiseWithResolvers<void> | null = null;
  /** How many of them wait for their bodies. */
  let receiving = 0;
  const endOfTurn = createTurn();

  function notify(record: RequestRecord): void {
    for (const observe of observers) {
      try {
        observe(record);
      } catch (error) {
        onObserverError?.(error, record);
      }
    }
  }

  return {
    inFlight: () => inFlight,
    async allRecorded() {
      if (unrecorded === 0) return;
      allRecorded ??= Promise.withResolvers();
      await allRecorded.promise;
    },
    async middleware(c, next) {
      // `app.request()` gives no environment.
      const received = c.req.raw;
      const incoming = c.env?.serverRequest ?? fromFetch(received);
      const record = beginRecord(incoming, c.req.method, trustedProxies);
      async function readBody(): Promise<Buffer> {
        receiving += 1;
        try {
          const { raw } = c.req;
          if (raw === received && !incoming.bodyUsed) return await incoming.readBody();
          // Middleware has replaced the request, or read a clone of it.
          if (!raw.bodyUsed) return await fromFetch(raw).readBody();
          // Hono keeps what middleware has read by its methods.
          const body = Buffer.from(await c.req.arrayBuffer());
          if (body.length > BODY_MAX_BYTES) throw BODY_IS_TOO_LARGE;
          return body;
        } finally {
          receiving -= 1;
        }
      }
      const served: ServedRequest = {
        incoming,
        record,
        fields: fieldsOf(record),
        response: null,
        readBody,
      };
      c.set('served', served);
      inFlight += 1;
      unrecorded += 1;
      try {
        await next();
        if (!c.finalized) throw new Error('a handler or middleware returned no response');
        if (c.res !== served.response) complete(c, served);
      } catch (error) {
        // Hono calls `onError` for instances of Error only, and not for what is no valid response.
        c.res = respondToError(error, c);
      }
      inFlight -= 1;
      record.status = c.res.status;
      record.key = c.get('key') ?? null;
      record.route = routeOf(c);
      await endOfTurn();
      notify(record);
      unrecorded -= 1;
      if (unrecorded === 0) allRecorded?.resolve();
    },
    shedLoad(_, next) {
      if (inFlight - receiving > IN_FLIGHT_MAX) throw OVERLOADED;
      return next();
    },
    reject(error, sender) {
      const record = beginRecord(sender, sender.method ?? '-', trustedProxies);
      const { status, headers, body } = errorResponse(error);
      const route = sender.method === undefined ? UNPARSABLE : UNMATCHED;
      notify(Object.assign(record, { route, error, status, bytes: Buffer.byteLength(body) }));
      return { status, headers: { ...fieldsOf(record), ...headers }, body };
    },
  };
}

/** Completes a response of a program or of Hono, or a copy of one with further header fields, which has the same body. */
function complete(c: Context<Env>, { fields, record, response }: ServedRequest): void {
  const { headers, body } = c.res;
  const length = body === null ? 0 : headers.get('content-length');
  if (body !== response?.body) record.bytes = length === null ? undefined : Number(length);
  for (const [name, value] of Object.entries(missingIn(headers, fields))) c.header(name, value, { append: true });
}

/** The route whose handler responded, or would have if middleware had let the request through. */
function routeOf(c: Context<Env>): string {
  const rest = matchedRoutes(c).slice(c.req.routeIndex);
  // Middleware matches every method and takes `next`, by which Hono's documentation tells it from a handler.
  return rest.find(({ method, handler }) => method !== 'ALL' || handler.length < 2)?.path ?? UNMATCHED;
}

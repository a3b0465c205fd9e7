import type { Middleware } from './env.ts';
import type { HeaderFields, Reply } from './errors.ts';
import { fromFetch, type IncomingRequest, type RequestHead } from './incoming-request.ts';
import { beginRecord, type Observe, type RequestRecord, UNMATCHED, UNPARSABLE } from './record.ts';
import { completeError, respondToError } from './respond.ts';
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

/** A request in flight. */
export interface Exchange {
  readonly request: IncomingRequest;
  readonly record: RequestRecord;
  /** Header fields of the response, whatever it is. Middleware adds to them before it calls `next`. */
  readonly fields: Record<string, string>;
  /** Of the service. */
  readonly load: Load;
}

export interface Load {
  /** How many requests have no response yet. */
  inFlight: number;
  /** How many of them wait for their bodies. */
  receiving: number;
}

export interface RecorderOptions {
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
  /** Further header fields of a response to a request that the application does not get. */
  readonly rejectionFields?: (request: RequestHead) => HeaderFields;
}

/** Records every request for the observers, and counts those in flight. */
export interface Recorder {
  readonly load: Readonly<Load>;
  /** Resolves when the observers have been notified of all requests so far, those in flight included. */
  allRecorded(): Promise<void>;
  /** For every path, before any other middleware. */
  readonly middleware: Middleware;
  /** The response to a request that the application does not get. */
  reject(error: unknown, request: RequestHead): Reply;
}

export function createRecorder({
  observers = [],
  onObserverError,
  trustedProxies = 0,
  rejectionFields = () => ({}),
}: RecorderOptions = {}): Recorder {
  const load: Load = { inFlight: 0, receiving: 0 };
  let unrecorded = 0;
  let allRecorded: PromiseWithResolvers<void> | null = null;
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
    load,
    async allRecorded() {
      if (unrecorded === 0) return;
      allRecorded ??= Promise.withResolvers();
      await allRecorded.promise;
    },
    async middleware(c, next) {
      // `app.request()` gives no environment.
      const request = c.env?.request ?? fromFetch(c.req.raw);
      const record = beginRecord(request, trustedProxies);
      c.set('exchange', { request, record, fields: fieldsOf(record), load });
      load.inFlight += 1;
      unrecorded += 1;
      try {
        await next();
      } catch (error) {
        // Hono calls `onError` for instances of Error only.
        c.res = respondToError(error, c);
      }
      load.inFlight -= 1;
      await endOfTurn();
      notify(record);
      unrecorded -= 1;
      if (unrecorded === 0) allRecorded?.resolve();
    },
    reject(error, request) {
      const record = beginRecord(request, trustedProxies);
      const fields = { ...fieldsOf(record), ...rejectionFields(request) };
      const reply = completeError({ record, fields }, request.method === undefined ? UNPARSABLE : UNMATCHED, error);
      notify(record);
      return reply;
    },
  };
}

import type { HeaderFields, Reply } from './errors.ts';
import type { IncomingRequest, RequestHead } from './incoming-request.ts';
import { beginRecord, type Observe, type RequestRecord } from './record.ts';
import { completeError } from './respond.ts';
import { createTurn } from './turn.ts';

/** A request in flight. */
export interface Exchange {
  readonly request: IncomingRequest;
  readonly record: RequestRecord;
  /** Further header fields of the response, whatever it is. Guards add to them. */
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
  begin(request: IncomingRequest): Exchange;
  /** Notifies the observers. Called once, when the record is complete; the response leaves when it resolves. */
  end(exchange: Exchange): Promise<void>;
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

  function finish(record: RequestRecord): void {
    record.duration = performance.now() - record.startedAt;
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
    begin(request) {
      const record = beginRecord(request, trustedProxies);
      load.inFlight += 1;
      unrecorded += 1;
      return { request, record, fields: {}, load };
    },
    async end({ record }) {
      load.inFlight -= 1;
      await endOfTurn();
      finish(record);
      unrecorded -= 1;
      if (unrecorded === 0) allRecorded?.resolve();
    },
    reject(error, request) {
      const record = beginRecord(request, trustedProxies);
      const exchange = { record, fields: rejectionFields(request) };
      const reply = completeError(exchange, error);
      finish(record);
      return reply;
    },
  };
}

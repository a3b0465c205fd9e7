import { DROP_REASONS, type DropReason } from '@animal-store/http-server';
import {
  type Observe,
  type Registry,
  registerCountsByReason,
  registerGauge,
  registerHistogram,
} from '@animal-store/observability';
import { type Observer, UNAVAILABLE_REASONS } from '../http/exchange.ts';

/** The values of the label `method`; any other method, which a client may invent, is `other`. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts requests and dropped connections. */
export interface RequestMetrics {
  readonly observer: Observer;
  /** Counts a connection that the server dropped. */
  countDrop(reason: DropReason): void;
}

/** Registers the metrics of requests and connections. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  let inFlight = 0;
  registerGauge(
    registry,
    { name: 'http_requests_in_flight', help: 'Requests that have no response yet.' },
    () => inFlight,
  );
  const countRequest = registerRequestDurations(registry);
  const countUnavailable = registerCountsByReason(
    registry,
    {
      name: 'animal_store_unavailable_total',
      help: 'Responses with status 503, by reason (storage, overload, stopping).',
    },
    UNAVAILABLE_REASONS,
  );
  return {
    observer: {
      begin() {
        inFlight += 1;
      },
      end({ method, route, unavailable }, { status }, _bytes, duration) {
        if (unavailable !== null) countUnavailable(unavailable.reason);
        inFlight -= 1;
        countRequest(METHODS.has(method) ? method : 'other', route, status, duration / 1000);
      },
    },
    countDrop: registerCountsByReason(
      registry,
      {
        name: 'animal_store_connections_dropped_total',
        help: 'Connections dropped because there were too many (connections) or they sent too many requests (requests).',
      },
      DROP_REASONS,
    ),
  };
}

/** Registers the durations of requests. */
function registerRequestDurations(registry: Registry) {
  const createSeries = registerHistogram(registry, {
    name: 'http_request_duration_seconds',
    help: 'Time from the header section of a request to its response, by method, route and status.',
  });
  const series = new Map<string, Observe>();
  return (method: string, route: string, status: number, seconds: number): void => {
    const name = `${method} ${status} ${route}`;
    let observe = series.get(name);
    if (observe === undefined) {
      observe = createSeries({ method, route, status });
      series.set(name, observe);
    }
    observe(seconds);
  };
}

import { DROP_REASONS, type DropReason } from '@animal-store/http-server';
import {
  type Observe,
  type Registry,
  registerCountsByReason,
  registerGauge,
  registerHistogram,
} from '@animal-store/observability';
import type { InFlight, Observer } from '../http/exchange.ts';
import { UNAVAILABLE_REASONS } from '../http/http-error.ts';

/** The values of the label `method`; any other method, which a client may invent, is `other`. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts requests and dropped connections. */
export interface RequestMetrics {
  readonly observe: Observer;
  /** Is changed by the handlers of requests. */
  readonly inFlight: InFlight;
  countDrop(reason: DropReason): void;
}

export function createRequestMetrics(registry: Registry): RequestMetrics {
  const inFlight = { count: 0 };
  registerGauge(
    registry,
    { name: 'http_requests_in_flight', help: 'Requests that have no response yet.' },
    () => inFlight.count,
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
    observe({ method, route, unavailable }, { status }, _bytes, duration) {
      if (unavailable !== null) countUnavailable(unavailable.reason);
      countRequest(METHODS.has(method) ? method : 'other', route, status, duration / 1000);
    },
    inFlight,
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

type CountRequest = (method: string, route: string, status: number, seconds: number) => void;

function registerRequestDurations(registry: Registry): CountRequest {
  const createSeries = registerHistogram(registry, {
    name: 'http_request_duration_seconds',
    help: 'Time from the header section of a request to its response, by method, route and status.',
  });
  // One map with a key of all labels would cost 1 % of a request.
  const routes = new Map<string, Map<string, Map<number, Observe>>>();
  return (method, route, status, seconds) => {
    const methods = getOrMake(routes, route, () => new Map<string, Map<number, Observe>>());
    const statuses = getOrMake(methods, method, () => new Map<number, Observe>());
    getOrMake(statuses, status, () => createSeries({ method, route, status }))(seconds);
  };
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

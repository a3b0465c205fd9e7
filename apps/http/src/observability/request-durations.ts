import { type Observe, type Registry, registerHistogram } from '@animal-store/observability';

/**
 * Registers the histogram of requests.
 *
 * @returns Counts one request.
 */
export function registerRequestDurations(
  registry: Registry,
): (method: string, route: string, status: number, seconds: number) => void {
  const series = registerHistogram(registry, {
    name: 'http_request_duration_seconds',
    help: 'Time from the header section of a request to its response, by method, route and status.',
  });
  // One map with a key of all labels would take longer than the rest.
  const routes = new Map<string, Map<string, Map<number, Observe>>>();
  return (method, route, status, seconds) => {
    const methods = getOrMake(routes, route, () => new Map<string, Map<number, Observe>>());
    const statuses = getOrMake(methods, method, () => new Map<number, Observe>());
    getOrMake(statuses, status, () => series({ method, route, status }))(seconds);
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

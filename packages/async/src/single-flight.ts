import { type Awaitable, isPromise } from '@animal-store/domain/transport';

/**
 * Runs `work` once for all callers that come while it is in flight. Their result may be of work that began before they came.
 */
export function singleFlight<T>(work: () => Awaitable<T>): () => Awaitable<T> {
  let inFlight: Promise<T> | null = null;
  return () => {
    if (inFlight !== null) return inFlight;
    const result = work();
    if (!isPromise(result)) return result;
    inFlight = result.finally(() => {
      inFlight = null;
    });
    return inFlight;
  };
}

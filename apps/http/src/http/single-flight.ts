import { type Awaitable, isPromise } from '@animal-store/domain/transport';

/**
 * The same work, done once for all who ask for it while it is under way: for what anybody may ask for, as often as they like.
 * What they get may have begun before they asked.
 */
export function singleFlight<T>(work: () => Awaitable<T>): () => Awaitable<T> {
  let underWay: Promise<T> | null = null;
  return () => {
    if (underWay !== null) return underWay;
    const result = work();
    if (!isPromise(result)) return result;
    underWay = result.finally(() => {
      underWay = null;
    });
    return underWay;
  };
}

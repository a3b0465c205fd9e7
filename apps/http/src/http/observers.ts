import type { Observer } from './exchange.ts';

/**
 * Combines observers to one that never throws, so that none of them changes a response or hides a request from the others.
 *
 * @param onError Called for each error that an observer throws.
 */
export function combineObservers(observers: readonly Observer[], onError: (error: unknown) => void): Observer {
  return {
    begin() {
      for (const observer of observers) {
        try {
          observer.begin?.();
        } catch (error) {
          onError(error);
        }
      }
    },
    end(exchange, response, bytes, duration) {
      for (const observer of observers) {
        try {
          observer.end(exchange, response, bytes, duration);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}

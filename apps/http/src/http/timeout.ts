import type { Awaitable } from '@animal-store/domain/transport';

/**
 * Waits for `work` as long as there is time; what it comes to later is dropped.
 *
 * @param limit In milliseconds.
 * @throws `late` when that is over; what `work` throws before.
 */
export function withTimeout<T>(work: Awaitable<T>, limit: number, late: Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(reject, limit, late);
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

import type { Awaitable } from '@animal-store/domain/transport';

/**
 * Waits for `work` up to a time limit, and ignores its result after that.
 *
 * @param limit In milliseconds.
 * @throws `late` after the limit, otherwise the error of `work`.
 */
export function withTimeout<T>(work: Awaitable<T>, limit: number, late: Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(reject, limit, late);
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

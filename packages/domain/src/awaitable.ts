/**
 * A value, or the promise of one. Ports return it so that storage in memory answers without a turn of the event loop
 * (a tenth of the cost of an HTTP request) and a database answers with a promise. `await` takes both.
 */
export type Awaitable<T> = T | Promise<T>;

/** Whether a value is still to come: anything with a `then` counts, as it does for `await`. */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function';
}

/** Calls `next` with the value: now if it is there already, otherwise when its promise is fulfilled. */
export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromise(value) ? value.then(next) : next(value);
}

/**
 * A value, or the promise of one. Ports return it so that storage in memory can return values without a turn of the event
 * loop, which is a tenth of the cost of an HTTP request. `await` takes both.
 */
export type Awaitable<T> = T | Promise<T>;

/** Whether a value is a promise: anything with a `then`, as for `await`. */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function';
}

/** Calls `next` with the value: at once, or when its promise is fulfilled. */
export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromise(value) ? value.then(next) : next(value);
}

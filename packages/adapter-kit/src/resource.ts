import { DomainError } from '@animal-store/domain';
import { closed, StorageMisconfigured, unavailable } from '@animal-store/domain/ports';

/** A call and its key's lookup together end within the 5 seconds of the ports. */
const CALL_TIMEOUT = 2_200;

export interface ResourceOptions<T> {
  /** Connects and prepares the storage. Each failure is `storage_unavailable` for the calls that wait. */
  open(): Promise<T>;

  /** Releases what `open` has returned, while calls may still use it. Its errors are ignored. */
  close(value: T): unknown;

  /**
   * Whether a failure of a call means that the connection is lost. A call without a response in time fails with an Error
   * whose name is `TimeoutError`: the connection may be silent for ever.
   */
  isLost(failure: unknown): boolean;

  /**
   * The error of the ports for a failure that is neither a DomainError nor a StorageMisconfigured: `unavailable(cause)`, or
   * the failure itself if it shows a defect. Absent: `unavailable(failure)`.
   */
  toPortError?(failure: unknown): unknown;

  /** The time limit of a call, opening included, in milliseconds. Absent: 2,200. */
  readonly timeout?: number;
}

export interface Resource<T> {
  /**
   * Runs one call of a port.
   *
   * @throws DomainError `storage_unavailable`, also if the resource is closed; or what `toPortError` returns.
   */
  call<R>(work: (value: T) => Promise<R>): Promise<R>;

  /** Closes the resource within the time limit. Never throws, and may be called twice. */
  close(): Promise<void>;
}

/**
 * A connection to a storage, for all calls of an adapter. The first call opens it. An opening that fails or takes too long is
 * discarded, and so is a lost connection: the next call opens a new one, which all later calls share. No call uses a
 * connection that was discarded before it, and none is sent twice.
 */
export function createResource<T>(options: ResourceOptions<T>): Resource<T> {
  const { open, close, isLost, toPortError = unavailable, timeout = CALL_TIMEOUT } = options;
  let current: Promise<T> | null = null;
  let closing: Promise<unknown> | null = null;

  function errorOf(failure: unknown): unknown {
    if (DomainError.is(failure)) return failure;
    return StorageMisconfigured.is(failure) ? unavailable(failure) : toPortError(failure);
  }

  function openOnce(): Promise<T> {
    if (current !== null) return current;
    const opening = (async () => open())();
    const opened = withTimeout(opening, timeout).catch((failure) => {
      const error = errorOf(failure);
      throw DomainError.is(error) ? error : unavailable(error);
    });
    current = opened;
    opened.catch(() => {
      discard(opened);
      // It may still succeed.
      opening.then(close).catch(() => {});
    });
    return opened;
  }

  function discard(used: Promise<T>): void {
    if (current !== used) return;
    current = null;
    used.then(close).catch(() => {});
  }

  return {
    async call(work) {
      if (closing !== null) throw closed();
      const used = openOnce();
      const result = used.then((value) => {
        if (closing !== null) throw closed();
        return work(value);
      });
      try {
        return await withTimeout(result, timeout);
      } catch (failure) {
        if (isLost(failure)) discard(used);
        throw errorOf(failure);
      }
    },

    async close() {
      closing ??= withTimeout(current?.then(close) ?? Promise.resolve(), timeout).catch(() => {});
      await closing;
    },
  };
}

/** Stops waiting for work, which goes on. The timer keeps no process alive. */
function withTimeout<R>(work: Promise<R>, timeout: number): Promise<R> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(Object.assign(new Error(`no response within ${timeout} ms`), { name: 'TimeoutError' }));
    }, timeout);
    timer.unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

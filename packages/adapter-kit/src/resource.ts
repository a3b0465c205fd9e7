import { DomainError } from '@animal-store/domain';
import { closed, StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { CALL_TIMEOUT, withTimeout } from './with-timeout.ts';

/** The time limit of an opening. Calls give up earlier. */
const OPEN_TIMEOUT = 10_000;

export interface ResourceOptions<T> {
  /** Connects and prepares the storage, within 10 seconds. Each failure is `storage_unavailable` for the calls that wait. */
  open(): Promise<T>;

  /** Releases what `open` has returned, while calls may still use it. Its errors are ignored. */
  close(value: T): unknown;

  /**
   * Whether a failure of a call means that the connection is lost. A call without a response in time fails with an Error
   * whose name is `TimeoutError`: the connection may be silent for ever.
   * Not called if the call had less than half of its time left.
   */
  isLost(failure: unknown): boolean;

  /**
   * The error of the ports for a failure that is neither a DomainError nor a StorageMisconfigured: `unavailable(cause)`, or
   * the failure itself if it shows a defect. Absent: `unavailable(failure)`.
   */
  toPortError?(failure: unknown): unknown;

  /** The time limit of a call in milliseconds, the wait for an opening included. Absent: 2,200. */
  readonly timeout?: number;
}

export interface Resource<T> {
  /**
   * Runs one call of a port. The work never starts once the call has failed.
   *
   * @throws DomainError `storage_unavailable`, also if the resource is closed; or what `toPortError` returns.
   */
  call<R>(work: (value: T) => Promise<R>): Promise<R>;

  /** Closes the resource within the time limit; an opening that takes longer is closed when it ends. Never throws. */
  close(): Promise<void>;
}

/**
 * A connection to a storage, for all calls of an adapter. The first call opens it, and calls that come meanwhile wait for the
 * same opening. One that fails or takes longer than 10 seconds is discarded, and so is a lost connection: the next call opens
 * a new one. No call uses a connection that was discarded before it, and none is sent twice.
 */
export function createResource<T>(options: ResourceOptions<T>): Resource<T> {
  const { open, close, isLost, toPortError = unavailable, timeout = CALL_TIMEOUT } = options;
  let current: ReturnType<typeof startOpening> | null = null;
  let closing: Promise<void> | null = null;

  function errorOf(failure: unknown): unknown {
    if (DomainError.is(failure)) return failure;
    return StorageMisconfigured.is(failure) ? unavailable(failure) : toPortError(failure);
  }

  function throwNotOpen(failure: unknown): never {
    const error = errorOf(failure);
    throw DomainError.is(error) ? error : unavailable(error);
  }

  /** Starts an opening. `opening` is what `open` returns; `opened` is the same with the time limit and the errors of the ports. */
  function startOpening() {
    const opening = (async () => open())();
    const opened = withTimeout(opening, OPEN_TIMEOUT).catch(throwNotOpen);
    const started = { opening, opened, isOpen: false };
    opened.then(
      () => {
        started.isOpen = true;
      },
      () => discard(started),
    );
    return started;
  }

  /** Closes a connection once, also one that is opened later. */
  async function discard(used: typeof current): Promise<void> {
    if (used === null || current !== used) return;
    current = null;
    await used.opening.then(close).catch(() => {});
  }

  return {
    async call(work) {
      if (closing !== null) throw closed();
      const begin = performance.now();
      current ??= startOpening();
      const used = current;
      const value = await (used.isOpen ? used.opened : withTimeout(used.opened, timeout).catch(throwNotOpen));
      if (closing !== null) throw closed();
      const left = timeout - Math.round(performance.now() - begin);
      // An opening that blocks the thread ends before the timer of its call.
      if (left <= 0) throw unavailable(new Error(`the storage opened after more than ${timeout} ms`));
      try {
        return await withTimeout(work(value), left);
      } catch (failure) {
        // A call that has waited for most of its time has too little left to judge a new connection.
        if (left > timeout / 2 && isLost(failure)) discard(used);
        throw errorOf(failure);
      }
    },

    close() {
      closing ??= withTimeout(discard(current), timeout).catch(() => {});
      return closing;
    },
  };
}

import { DomainError } from '@animal-store/domain';
import { closed, StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { BUDGET } from './budget.ts';
import { type Limits, Work } from './limits.ts';

export interface ResourceOptions<T> {
  /**
   * Connects and prepares the storage, within 10 seconds. Each failure is `storage_unavailable` for the calls that wait.
   *
   * @param limits Of connecting: 4 seconds.
   */
  open(limits: Limits): Promise<T>;

  /**
   * Releases what `open` has returned. Its errors are ignored.
   *
   * - After a loss, calls may still use it until their deadline.
   * - When the storage is closed, they have ended, and work of theirs that goes on begins nothing: see `timeLeft`.
   */
  close(value: T): unknown;

  /**
   * Whether a failure of a call means that the connection is lost. A call without a response in time fails with an Error
   * whose name is `TimeoutError`: the connection may be silent for ever.
   * Not called if the call waited for the opening for more than half of its time: its time was short, and the connection may be
   * healthy.
   */
  isLost(failure: unknown): boolean;

  /**
   * The error of the ports for a failure that is no DomainError, StorageMisconfigured or `TimeoutError`: `unavailable(cause)`, or
   * the failure itself if it shows a defect.
   *
   * @default unavailable
   */
  toPortError?(failure: unknown): unknown;
}

/** A call of a port, as the work on a connection sees it. */
export interface Call<T> extends Limits {
  readonly connection: T;
}

export interface Resource<T> {
  /**
   * Runs one call of a port. The work never starts once the call has failed.
   *
   * @throws DomainError `storage_unavailable`, also if the resource is closed; or what `toPortError` returns.
   */
  call<R>(work: (call: Call<T>) => Promise<R>): Promise<R>;

  /**
   * Never throws, and keeps the process alive until it resolves:
   *
   * 1. The calls and the opening in flight have ended: they begin nothing more.
   * 2. The connection is closed, within 2.2 seconds. An opening that takes longer is closed when it ends.
   * 3. Calls that have no result yet are rejected.
   */
  close(): Promise<void>;
}

type State<T> =
  | { readonly name: 'absent' }
  | {
      readonly name: 'opening';
      readonly limits: Work;
      /** Of `open`: it may settle long after the opening was discarded. */
      readonly connecting: Promise<T>;
      /** For calls that wait: settles as `connecting` does, or rejects after 10 seconds. */
      readonly opened: Promise<T>;
    }
  | { readonly name: 'open'; readonly connecting: Promise<T>; readonly value: T }
  | { readonly name: 'closed'; readonly done: Promise<void> };

/**
 * A connection to a storage, for all calls of an adapter. A call never begins on a connection that was discarded, and is never
 * sent twice. A discarded connection is closed, as soon as it is open.
 *
 * | state   | a call                | it opens | it fails, or 10 s pass | it is lost          | `close`             |
 * | ------- | --------------------- | -------- | ---------------------- | ------------------- | ------------------- |
 * | absent  | → opening, then waits |          |                        |                     | → closed            |
 * | opening | waits                 | → open   | → absent, discarded    |                     | → closed, discarded |
 * | open    | runs                  |          |                        | → absent, discarded | → closed, discarded |
 * | closed  | is rejected           |          |                        |                     | the same promise    |
 */
export function createResource<T>(options: ResourceOptions<T>): Resource<T> {
  const { open, close, isLost, toPortError = unavailable } = options;
  let state: State<T> = { name: 'absent' };
  /** The calls whose work has not ended, in any order: a Map or a Set of them would cost as much as the call itself. */
  const inFlight: RunningCall<T>[] = [];

  function startOpening() {
    const limits = new Work(performance.now() + BUDGET.connect);
    const connecting = (async () => open(limits))();
    withTimeout(connecting, BUDGET.connect).catch(() => limits.end());
    const opening = { name: 'opening', limits, connecting, opened: withTimeout(connecting, BUDGET.open) } as const;
    opening.opened.then(
      (value) => {
        if (state === opening) state = { name: 'open', connecting, value };
      },
      () => discard(opening),
    );
    return opening;
  }

  /** Closes a connection unless another call has discarded it. */
  function discard(used: State<T>): void {
    if (state !== used) return;
    state = { name: 'absent' };
    release(used);
  }

  /** Closes a connection, also one that is opened later. Never rejects. */
  async function release(used: State<T>): Promise<void> {
    try {
      if ('connecting' in used) await close(await used.connecting);
    } catch {
      // It was not opened, or is no longer open.
    }
  }

  function errorOf(failure: unknown): unknown {
    if (DomainError.is(failure)) return failure;
    const isTimeout = failure instanceof Error && failure.name === 'TimeoutError';
    return StorageMisconfigured.is(failure) || isTimeout ? unavailable(failure) : toPortError(failure);
  }

  /** While it opens every failure is unavailable, a defect too. */
  function throwNotOpen(failure: unknown): never {
    const error = errorOf(failure);
    throw DomainError.is(error) ? error : unavailable(error);
  }

  return {
    async call(work) {
      const deadline = performance.now() + BUDGET.call;
      let left: number = BUDGET.call;
      // Another call may close or lose the connection before this one continues.
      while (state.name !== 'open') {
        if (state.name === 'closed') throw closed();
        if (state.name === 'absent') state = startOpening();
        await withTimeout(state.opened, left, undefined, BUDGET.call).catch(throwNotOpen);
        left = Math.round(deadline - performance.now());
        // If the opening has blocked the thread, the timer of the call is late.
        if (left <= 0) throw unavailable(new Error(`the storage opened after more than ${BUDGET.call} ms`));
      }
      const used = state;
      const call = new RunningCall(used.value, deadline, inFlight);
      try {
        return await withTimeout(work(call), left, call, BUDGET.call);
      } catch (failure) {
        if (left > BUDGET.call / 2 && isLost(failure)) discard(used);
        throw (state as State<T>).name === 'closed' ? closed() : errorOf(failure);
      }
    },

    close() {
      if (state.name !== 'closed') {
        const closing = state;
        const failure = closed();
        const released = withTimeout(release(closing), BUDGET.call).catch(() => {});
        state = { name: 'closed', done: released };
        if (closing.name === 'opening') closing.limits.end();
        for (const call of inFlight) call.end();
        // The caller waits for the end, which a process without other work would not.
        const alive = setTimeout(() => {}, BUDGET.call);
        // Some drivers never settle what waits for a connection when they are closed.
        const endCalls = () => {
          for (const call of [...inFlight]) call.stop(failure);
        };
        released.then(() => {
          clearTimeout(alive);
          // In the next turn, so that results that have arrived are delivered first.
          setImmediate(endCalls);
        });
      }
      return state.done;
    },
  };
}

class RunningCall<T> extends Work implements Call<T> {
  readonly connection: T;
  readonly #inFlight: RunningCall<T>[];
  #index = -1;
  #stop: ((failure: Error) => void) | null = null;

  constructor(connection: T, deadline: number, inFlight: RunningCall<T>[]) {
    super(deadline);
    this.connection = connection;
    this.#inFlight = inFlight;
  }

  /** Adds it to the calls in flight. */
  enter(stop: (failure: Error) => void): void {
    this.#stop = stop;
    this.#index = this.#inFlight.push(this) - 1;
  }

  /** Ends it, and removes it: the last one takes its place. */
  leave(): void {
    this.end();
    const last = this.#inFlight.pop() as RunningCall<T>;
    if (last === this) return;
    this.#inFlight[this.#index] = last;
    last.#index = this.#index;
  }

  /** Stops waiting for its work. */
  stop(failure: Error): void {
    this.#stop?.(failure);
  }
}

/**
 * Stops waiting for work, which goes on, after a timeout in milliseconds. The timer keeps no process alive.
 *
 * @param call Is in flight until the end.
 * @param limit The whole time, of which a part may be over: the message names it.
 */
export function withTimeout<R>(
  work: Promise<R>,
  timeout: number,
  call?: RunningCall<unknown>,
  limit = timeout,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stop(Object.assign(new Error(`no response within ${limit} ms`), { name: 'TimeoutError' }));
    }, timeout);
    timer.unref();
    let hasEnded = false;
    call?.enter(stop);
    // Not `finally`, which makes more promises for each call.
    function end(): void {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(timer);
      call?.leave();
    }
    function stop(failure: Error): void {
      end();
      reject(failure);
    }
    work.then(end, end);
    work.then(resolve, reject);
  });
}

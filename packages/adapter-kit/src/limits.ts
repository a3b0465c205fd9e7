/** The time that work has: that of a call, of the calls of a batch together, or of an opening. */
export interface Limits {
  /** When the caller gives up, on the clock of `performance.now`. A write that begins later surprises it: see `timeLeft`. */
  readonly deadline: number;

  /**
   * Aborts when nobody waits any more: when the call has ended, by its deadline and the close of the storage, too. That of a
   * batch aborts when all of its calls have ended; that of an opening, if it takes 4 seconds, fails, or is closed meanwhile. A copy
   * such as `{ ...call }` has none.
   */
  readonly signal: AbortSignal;
}

/** The reason of a call that has succeeded. It is made once, because taking the stack costs more than the call. */
const ENDED = new DOMException('the call has ended', 'AbortError');

/** Makes the signal when it is read: most drivers need the deadline only. A getter of an object literal would be slow. */
export class LazyLimits implements Limits {
  readonly deadline: number;
  #controller: AbortController | null = null;
  #reason: unknown = null;

  constructor(deadline: number) {
    this.deadline = deadline;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== null) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** Aborts the signal, also one that is read later. */
  end(reason: unknown = ENDED): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }
}

/** A signal that aborts with the last of these limits. */
export function allEnded(limits: readonly Limits[]): AbortSignal {
  const controller = new AbortController();
  let left = limits.length;
  for (const { signal } of limits) {
    const end = () => {
      left -= 1;
      if (left === 0) controller.abort(signal.reason);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  }
  return controller.signal;
}

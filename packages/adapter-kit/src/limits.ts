/** The time that work has: that of a call, of the calls of a batch together, or of an opening. */
export interface Limits {
  /** When the caller gives up, on the clock of `performance.now`. */
  readonly deadline: number;

  /**
   * Whether nobody waits for the result: the call, or each call of a batch, has ended, by its deadline and the close of the
   * storage, too; an opening has if it takes 4 seconds, fails, or is closed. Work that has ended begins nothing: see `timeLeft`.
   * Pass the limits themselves: a copy such as `{ ...call }` does not learn it.
   */
  readonly hasEnded: boolean;
}

export class Work implements Limits {
  readonly deadline: number;
  #hasEnded = false;

  constructor(deadline: number) {
    this.deadline = deadline;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  end(): void {
    this.#hasEnded = true;
  }
}

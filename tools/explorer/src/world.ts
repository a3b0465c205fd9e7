/**
 * Declares what there is in a world, the same in each run.
 *
 * @example
 * // Fails in those orders in which both clients read before one writes.
 * const scenario = (world: World) => {
 *   let count = 0;
 *   async function add() {
 *     const before = await world.command('read', () => count);
 *     await world.command('write', () => { count = before + 1; });
 *   }
 *   world.client('one', [add]);
 *   world.client('two', [add]);
 *   world.finally(() => assert.equal(count, 2));
 * };
 */
export type Scenario = (world: World) => void;

/** One thing that can happen next. */
export interface Step {
  /** The same in each run. */
  readonly name: string;
  /** Whether it is possible now. Changes nothing. */
  readonly can: () => boolean;
  /** Whether a run may end without it. */
  readonly may: boolean;
  readonly run: () => void;
}

const always = () => true;

// The real function, before a fake replaces it.
const { setImmediate: afterMicrotasks } = globalThis;

/**
 * A world of clients, servers, failures and a clock. Nothing happens in it, and no time passes, except by steps.
 *
 * A run takes steps until none is possible. It may end as soon as only steps with `may` are left and no timer waits: at each such
 * moment no client may wait for a call, and the checks of `finally` are made.
 */
export class World {
  /** The first error of the run. */
  failure: unknown = null;

  readonly #steps = new Set<Step>();
  readonly #checks: (() => void)[] = [];
  readonly #lastChecks: (() => void)[] = [];
  /** The clients that wait for a call. */
  readonly #waiting = new Set<string>();
  readonly #counts = new Map<string, number>();
  #now = 0;

  // For scenarios and fakes.

  /** Calls async functions one after the other, each in a step of its own. A call that rejects is an error of the run. */
  async client(name: string, calls: readonly (() => Promise<unknown>)[]): Promise<void> {
    try {
      for (const call of calls) {
        await this.#taken(this.#identify(`${name}: ${call.name || 'call'}`));
        this.#waiting.add(name);
        await call();
        this.#waiting.delete(name);
      }
    } catch (error) {
      this.failure ??= error;
    }
  }

  /**
   * Sends a command to a server: one step runs it there, a later one brings the reply.
   *
   * @param can Whether it can run now.
   */
  async command<T>(name: string, run: () => T | Promise<T>, can = always): Promise<T> {
    const id = this.#identify(name);
    await this.#taken(`run ${id}`, can);
    const [result] = await Promise.allSettled([Promise.resolve().then(run)]);
    await this.#taken(`reply ${id}`);
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }

  /** Declares a step of the environment, such as a failure, which is taken as often as `can` allows it. */
  event(name: string, { may = false, can, run }: Pick<Step, 'can' | 'run'> & { readonly may?: boolean }): void {
    this.#steps.add({ name, can, may, run });
  }

  /** Declares that time may pass, in milliseconds, as often as `can` allows it. */
  pass(ms: number, can: () => boolean): void {
    const run = () => {
      this.#now += ms;
    };
    this.event(`${ms} ms pass`, { may: true, can, run });
  }

  /** The time of the run, in milliseconds: what `performance.now()` and `Date.now()` return in it. */
  now(): number {
    return this.#now;
  }

  /** Checks the run after each step. */
  always(check: () => void): void {
    this.#checks.push(check);
  }

  /** Checks the run whenever it may end. */
  finally(check: () => void): void {
    this.#lastChecks.push(check);
  }

  // For the explorer.

  /** When the next timer is due; undefined if there is none. The fake of time knows it. */
  nextTimer: () => number | undefined = () => undefined;

  /** The steps that are possible now. If nothing else must happen, time passes to the next timer. */
  steps(): readonly Step[] {
    const possible = [...this.#steps].filter(({ can }) => can());
    const due = this.nextTimer();
    if (due === undefined || !possible.every(({ may }) => may)) return possible;
    const run = () => {
      this.#now = due;
    };
    return [...possible, { name: `time passes to ${due} ms`, can: always, may: false, run }];
  }

  /** Takes a step, with all code that it wakes, then makes the checks. */
  async take({ run }: Step): Promise<void> {
    try {
      run();
      // Every microtask has run by then.
      await new Promise(afterMicrotasks);
      for (const check of this.#checks) check();
      if (!this.steps().every(({ may }) => may)) return;
      for (const client of this.#waiting) throw new Error(`a call of ${client} never ends`);
      for (const check of this.#lastChecks) check();
    } catch (error) {
      this.failure ??= error;
    }
  }

  /** Offers a step until it is taken. */
  #taken(name: string, can = always): Promise<void> {
    return new Promise((resolve) => {
      const run = () => {
        this.#steps.delete(step);
        resolve();
      };
      const step: Step = { name, can, may: false, run };
      this.#steps.add(step);
    });
  }

  /** Adds a number to a name that was used before. */
  #identify(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count === 1 ? name : `${name} #${count}`;
  }
}

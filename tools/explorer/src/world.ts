/** Builds a world around real modules, the same world each time. */
export type Scenario = (world: World) => void;

/** One thing that can happen next, with all code that it wakes. */
export interface Step {
  /** The same in each run. */
  readonly name: string;
  /** The process whose code it calls. */
  readonly process: string;
  readonly can: Condition;
  /** Whether a run may end without it. */
  readonly may: boolean;
  readonly run: () => unknown;
}

export interface Timer extends Step {
  /** In milliseconds. */
  readonly due: number;
}

type Condition = () => boolean;
type Run<T> = () => T | Promise<T>;

const always = () => true;

// The real function, before a fake replaces it.
const { setImmediate: afterMicrotasks } = globalThis;

/** One run of a scenario: clients, servers, failures and a clock. */
export class World {
  /** The first error of the run. */
  failure: unknown = null;

  /** Those that are possible once their conditions allow them. */
  readonly #steps = new Set<Step>();
  #timers: readonly Timer[] = [];
  readonly #checks: (() => void)[] = [];
  readonly #lastChecks: (() => void)[] = [];
  /** The clients that wait for a call. */
  readonly #waiting = new Set<string>();
  readonly #counts = new Map<string, number>();
  /** The process of the present step. */
  #process = 'main';
  #now = 0;

  // For scenarios.

  /** Calls async functions one after the other. A call that rejects is an error of the run. */
  client(name: string, [call, ...others]: readonly (() => Promise<unknown>)[], process = 'main'): void {
    if (call === undefined) return;
    const run = async () => {
      this.#waiting.add(name);
      await call();
      this.#waiting.delete(name);
      this.client(name, others, process);
    };
    this.#offer({ name: this.#identify(`${name}: ${call.name || 'call'}`), process, can: always, may: false, run });
  }

  /**
   * Sends a command to a server: one step runs it there once `can` allows it, a later one brings the reply.
   *
   * @param run An object of functions stands for several possible outcomes.
   */
  command<T>(name: string, run: Run<T> | Readonly<Record<string, Run<T>>>, can: Condition = always): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const process = this.#process;
    const id = this.#identify(process === 'main' ? name : `${process}: ${name}`);
    const reply = (settle: () => void) =>
      this.#offer({ name: `reply ${id}`, process, can: always, may: false, run: settle });
    const outcomes = typeof run === 'function' ? [['', run] as const] : Object.entries(run);
    const steps = outcomes.map(([how, outcome]) => ({
      name: how === '' ? `run ${id}` : `run ${id}: ${how}`,
      ...{ process, can, may: false },
      run: () =>
        Promise.resolve()
          .then(outcome)
          .then(
            (value) => reply(() => resolve(value)),
            (error) => reply(() => reject(error)),
          ),
    }));
    this.#offer(...steps);
    return promise;
  }

  /** Declares a failure, or another step of the environment. It may happen as often as `can` allows it. */
  event(name: string, { may = false, ...event }: Pick<Step, 'can' | 'run'> & { readonly may?: boolean }): void {
    this.#steps.add({ name, process: 'main', may, ...event });
  }

  /** Lets `ms` milliseconds pass whenever `can` allows it. */
  pass(ms: number, can: Condition): void {
    const run = () => {
      this.#now += ms;
    };
    this.event(`${ms} ms pass`, { can, run, may: true });
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

  // For the fake of time.

  /** Starts a timer. It is a step once it is due, and no timer of its process is due before. */
  startTimer(run: () => void, ms: number): Timer {
    const process = this.#process;
    const can = () => timer.due <= this.#now && this.#timers.find((other) => other.process === process) === timer;
    const timer: Timer = {
      ...{ name: this.#identify('timer'), process, can, may: false, due: this.#now + ms },
      run: () => {
        this.stopTimer(timer);
        run();
      },
    };
    this.#timers = [...this.#timers, timer].sort((one, other) => one.due - other.due);
    return timer;
  }

  stopTimer(timer: Timer): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
  }

  // For the explorer.

  /** The possible steps. If nothing else must happen, time passes to the next timer. */
  steps(): readonly Step[] {
    const steps = [...this.#steps, ...this.#timers].filter(({ can }) => can());
    const [timer] = this.#timers;
    if (timer === undefined || !steps.every(({ may }) => may)) return steps;
    const run = () => {
      this.#now = timer.due;
    };
    return [...steps, { name: `time passes to ${timer.due} ms`, process: 'main', can: always, may: false, run }];
  }

  /** Takes a step, with all code that it wakes, and makes the checks. */
  async take({ process, run }: Pick<Step, 'process' | 'run'>): Promise<void> {
    this.#process = process;
    this.#attempt(run);
    // Every microtask has run by then.
    await new Promise(afterMicrotasks);
    this.#checks.forEach((check) => void this.#attempt(check));
    if (!this.steps().every(({ may }) => may)) return;
    const [waiting] = this.#waiting;
    if (waiting !== undefined) this.failure ??= new Error(`a call of ${waiting} never ends`);
    this.#lastChecks.forEach((check) => void this.#attempt(check));
  }

  async #attempt(run: () => unknown): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.failure ??= error;
    }
  }

  /** Makes steps possible, one of which can be taken, once. */
  #offer(...alternatives: readonly Step[]): void {
    const steps = alternatives.map((step) => ({
      ...step,
      run: () => {
        for (const each of steps) this.#steps.delete(each);
        return step.run();
      },
    }));
    for (const step of steps) this.#steps.add(step);
  }

  /** Adds a number to a name that was used before. */
  #identify(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count === 1 ? name : `${name} #${count}`;
  }
}

import { Parts } from './parts.ts';
import type { Effect, State, Step } from './state.ts';

/** Builds a world. */
export type Scenario = (world: World) => void;

type Condition = () => boolean;
type Run<T> = () => T | Promise<T>;
type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** An order to a server: it is run there, and then its reply arrives. */
interface Command {
  readonly process: string;
  readonly can: Condition;
  readonly outcomes: Readonly<Record<string, () => unknown>>;
  outcome: Outcome | null;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Client {
  readonly name: string;
  readonly process: string;
  readonly calls: readonly (() => Promise<unknown>)[];
  next: number;
  isBusy: boolean;
}

interface Event {
  readonly name: string;
  /** Whether it may happen now, as often as it likes. */
  readonly can: Condition;
  readonly run: () => void;
  /** Whether a run may end without it. */
  readonly may?: boolean;
  /** The process whose code it calls. Absent: it changes shared values only. */
  readonly process?: string;
}

interface Timer {
  readonly process: string;
  readonly due: number;
  run(): void;
}

/** A step of nobody. */
const STEP = { process: null, command: null, may: false } as const;

// The real function, before a fake replaces it.
const { setImmediate: afterMicrotasks } = globalThis;

export class World {
  /** The first error of the run. */
  failure: unknown = null;

  readonly #parts = new Parts();
  readonly #clients: Client[] = [];
  readonly #commands = new Map<string, Command>();
  readonly #events: Event[] = [];
  readonly #timers = new Map<string, Timer>();
  readonly #checks: (() => void)[] = [];
  readonly #lastChecks: (() => void)[] = [];
  readonly #counts = new Map<string, number>();
  /** The process of the present step. */
  #process: string | null = null;
  readonly #time = this.shared({ now: 0 });

  // For scenarios.

  /**
   * Declares values of servers and the environment. A step may replace a value, but not change it. What a step reads and
   * writes is recorded, so that independent steps need no declaration.
   */
  shared<Values extends object>(initial: Values): Values {
    return this.#parts.share(initial);
  }

  /** Calls async functions one after the other. A call that rejects is an error of the run. */
  client(name: string, calls: Client['calls'], { process = 'main' }: { process?: string } = {}): void {
    this.#clients.push({ name, process, calls, next: 0, isBusy: false });
  }

  /**
   * Sends a command to a server: one step runs it there once `can` allows it, a later one brings the reply.
   *
   * @param run Runs on the server, on shared values only. An object of functions stands for several possible outcomes.
   */
  command<T>(name: string, run: Run<T> | Readonly<Record<string, Run<T>>>, can: Condition = () => true): Promise<T> {
    const id = this.#identify(name);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#commands.set(id, {
      process: this.#running(name),
      can,
      outcomes: typeof run === 'function' ? { '': run } : run,
      outcome: null,
      resolve: resolve as (value: unknown) => void,
      reject,
    });
    return promise;
  }

  /** Declares a failure, or another step of the environment. */
  event(name: string, event: Omit<Event, 'name'>): void {
    this.#events.push({ name, ...event });
  }

  /** Lets `ms` milliseconds pass whenever `can` allows it. */
  pass(ms: number, can: Condition): void {
    const run = () => {
      this.#time.now += ms;
    };
    this.event(`${ms} ms pass`, { can, run, may: true });
  }

  /** The time of the run, in milliseconds: what `performance.now()` and `Date.now()` return in it. */
  now(): number {
    return this.#time.now;
  }

  /** Checks the run after each step. */
  always(check: () => void): void {
    this.#checks.push(check);
  }

  /** Checks the run at its end. */
  finally(check: () => void): void {
    this.#lastChecks.push(check);
  }

  // For the fake of time.

  /** Starts a timer, and returns its name. It is a step once it is due. */
  startTimer(run: () => void, ms: number): string {
    const id = this.#identify('timer');
    const fire = () => {
      this.#timers.delete(id);
      run();
    };
    this.#timers.set(id, { process: this.#running('timer'), due: this.now() + ms, run: fire });
    return id;
  }

  stopTimer(id: string): void {
    this.#timers.delete(id);
  }

  // For the search.

  get state(): State {
    return this.#parts.state;
  }

  /** The possible steps. If there are only timers, time passes to the next one. */
  steps(): readonly Step[] {
    const steps = [...this.#calls(), ...this.#commandSteps(), ...this.#environment(), ...this.#dueTimers()];
    const due = this.#timersByTime()[0]?.[1].due ?? Number.POSITIVE_INFINITY;
    if (due === Number.POSITIVE_INFINITY || !steps.every(({ may }) => may)) return steps;
    const run = () => {
      this.#time.now = due;
    };
    return [...steps, { ...STEP, name: `time passes to ${due} ms`, run }];
  }

  /** Builds the world by a scenario, in a first step of the process `main`. */
  async build(scenario: Scenario): Promise<void> {
    await this.take({ ...STEP, name: 'the beginning', process: 'main', run: () => scenario(this) });
  }

  /** Takes a step, with all code that it wakes. */
  async take(step: Step): Promise<Effect> {
    this.#parts.beginStep();
    this.#process = step.process;
    this.#verify([step.run]);
    // Every microtask has run by then.
    await new Promise(afterMicrotasks);
    const effect = this.#parts.endStep(step, this.#commands);
    this.#verify(this.#checks);
    return effect;
  }

  /** Whether nothing more must happen; then it makes the last checks. */
  hasEnded(): boolean {
    if (!this.steps().every(({ may }) => may)) return false;
    const hanging = this.#clients.find(({ isBusy }) => isBusy);
    if (hanging !== undefined) this.failure ??= new Error(`a call of ${hanging.name} never ends`);
    this.#verify(this.#lastChecks);
    return true;
  }

  *#calls(): Generator<Step> {
    for (const client of this.#clients) {
      const call = client.calls[client.next];
      if (client.isBusy || call === undefined) continue;
      const name = `${client.name}: ${call.name || client.next + 1}`;
      yield { ...STEP, name, process: client.process, run: () => this.#call(client, call) };
    }
  }

  *#commandSteps(): Generator<Step> {
    for (const [id, command] of this.#commands) {
      const { outcome } = command;
      if (outcome !== null) {
        const reply = () => {
          this.#commands.delete(id);
          if ('error' in outcome) command.reject(outcome.error);
          else command.resolve(outcome.value);
        };
        yield { ...STEP, name: `reply ${id}`, process: command.process, command: id, run: reply };
      } else if (command.can()) {
        for (const [how, run] of Object.entries(command.outcomes)) {
          const name = how === '' ? `run ${id}` : `run ${id}: ${how}`;
          yield { ...STEP, name, command: id, run: () => void this.#run(command, run) };
        }
      }
    }
  }

  *#environment(): Generator<Step> {
    for (const { can, ...step } of this.#events) if (can()) yield { ...STEP, ...step };
  }

  /** The timer of each process that is due first. */
  *#dueTimers(): Generator<Step> {
    const processes = new Set<string>();
    for (const [id, { due, process, run }] of this.#timersByTime()) {
      if (due > this.now()) return;
      if (!processes.has(process)) yield { ...STEP, name: id, process, run };
      processes.add(process);
    }
  }

  #timersByTime(): [string, Timer][] {
    return [...this.#timers].sort(([, one], [, other]) => one.due - other.due);
  }

  #call(client: Client, call: () => Promise<unknown>): void {
    client.isBusy = true;
    client.next += 1;
    Promise.resolve()
      .then(call)
      .then(() => {
        client.isBusy = false;
        if (this.#process === client.process) return;
        throw new Error(`${client.name} ended in process ${this.#process}`);
      })
      .catch((error: unknown) => {
        this.failure ??= error;
      });
  }

  async #run(command: Command, run: () => unknown): Promise<void> {
    try {
      command.outcome = { value: await run() };
    } catch (error) {
      command.outcome = { error };
    }
  }

  #running(name: string): string {
    if (this.#process !== null) return this.#process;
    this.failure = new Error(`${name}: a step without a process called code of one`);
    throw this.failure;
  }

  /** The same name in each run, and a number if the process has used it before. */
  #identify(name: string): string {
    const process = this.#running(name);
    const full = process === 'main' ? name : `${process}: ${name}`;
    const count = (this.#counts.get(full) ?? 0) + 1;
    this.#counts.set(full, count);
    return count === 1 ? full : `${full} #${count}`;
  }

  #verify(checks: readonly (() => void)[]): void {
    try {
      for (const check of checks) check();
    } catch (error) {
      this.failure ??= error;
    }
  }
}

// The real function, before a fake replaces it.
const { setImmediate: afterMicrotasks } = globalThis;

/** An event that can happen next. */
export interface Option {
  readonly name: string;
  /** The process whose code it runs; null for servers and the environment. */
  readonly process: string | null;
  /** Whether a run may end without it. */
  readonly may: boolean;
  /** The parts of the state that it always depends on, besides the shared values that it reads. */
  readonly own: readonly string[];
  run(): void;
}

type Condition = () => boolean;
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

interface Event extends Pick<Option, 'name' | 'process' | 'may' | 'run'> {
  readonly can: Condition;
  readonly times: number;
  used: number;
}

interface Timer {
  readonly process: string;
  readonly due: number;
  run(): void;
}

/** A fake timer, as the functions of node:timers return one. */
export interface FakeTimer {
  readonly id: string;
  ref(): FakeTimer;
  unref(): FakeTimer;
}

/** Timers that are due later, in milliseconds, keep no run going: nothing explored waits that long. */
const HORIZON = 100_000;

/**
 * One run of a scenario: its clients, servers, failures and clock. The function of a scenario builds it anew for each run and
 * must do the same each time.
 */
export class World {
  /** The values of servers and the environment, by name. */
  readonly values: Record<string, unknown> = {};
  /** The names of the shared values that the last event has read, and written. */
  readonly reads = new Set<string>();
  readonly writes = new Set<string>();
  readonly clients: Client[] = [];
  readonly commands = new Map<string, Command>();
  readonly events: Event[] = [];
  readonly timers = new Map<string, Timer>();
  /** The first error of the run. */
  failure: unknown = null;

  readonly #counts = new Map<string, number>();
  readonly #checks: (() => void)[] = [];
  readonly #lastChecks: (() => void)[] = [];
  readonly #time = this.shared({ now: 0 });
  #process: string | null = 'main';

  /**
   * Declares the values of servers and the environment. An event may replace a value, but not change it. The reads and
   * writes of events are recorded, so that independent events need no declaration.
   */
  shared<Values extends object>(initial: Values): Values {
    const object = {};
    for (const [name, value] of Object.entries(initial)) {
      this.values[name] = deepFrozen(value);
      Object.defineProperty(object, name, {
        get: () => {
          this.reads.add(name);
          return this.values[name];
        },
        set: (replacement: unknown) => {
          this.writes.add(name);
          this.values[name] = deepFrozen(replacement);
        },
      });
    }
    return Object.seal(object) as Values;
  }

  /** Calls async functions one after the other. A call that rejects is an error of the run. */
  client(name: string, calls: Client['calls'], { process = 'main' }: { process?: string } = {}): void {
    this.clients.push({ name, process, calls, next: 0, isBusy: false });
  }

  /**
   * Sends a command to a server: one event runs it there once `can` allows it, a later one brings the reply.
   *
   * @param run Runs on the server, on shared values only. An object of functions stands for several possible outcomes.
   */
  command<T>(
    name: string,
    { can = () => true, run }: { can?: Condition; run: (() => T) | Readonly<Record<string, () => T>> },
  ): Promise<T> {
    const id = this.#identify(name);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.commands.set(id, {
      process: this.#running(name),
      can,
      outcomes: typeof run === 'function' ? { '': run } : run,
      outcome: null,
      resolve: resolve as (value: unknown) => void,
      reject,
    });
    return promise;
  }

  /**
   * Declares a failure, or a step of the environment.
   *
   * @param options.may Whether a run may end without it.
   * @param options.process The process whose code it calls. Absent: it changes shared values only.
   */
  event(
    name: string,
    {
      can = () => true,
      run = () => {},
      times = 1,
      may = false,
      process = null,
    }: { can?: Condition; run?: () => void; times?: number; may?: boolean; process?: string | null },
  ): void {
    this.events.push({ name, can, run, times, may, process, used: 0 });
  }

  /** Lets `ms` milliseconds pass at any time. */
  pass(ms: number, times = 1, can: Condition = () => true): void {
    const run = () => {
      this.#time.now += ms;
    };
    this.event(`${ms} ms pass`, { can, run, times, may: true });
  }

  /** The time of the run, in milliseconds: what `performance.now()` and `Date.now()` return in it. */
  now(): number {
    return this.#time.now;
  }

  /** Checks the run after each event. */
  always(check: () => void): void {
    this.#checks.push(check);
  }

  /** Checks the run at its end. */
  finally(check: () => void): void {
    this.#lastChecks.push(check);
  }

  /** Starts a fake timer: an event once it is due. */
  timer(run: () => void, ms = 0): FakeTimer {
    const id = this.#identify('timer');
    const process = this.#running('timer');
    const fire = () => {
      this.timers.delete(id);
      run();
    };
    this.timers.set(id, { process, due: this.#time.now + ms, run: fire });
    const timer: FakeTimer = { id, ref: () => timer, unref: () => timer };
    return timer;
  }

  /** The possible events. If there are only timers, time passes to the next one. */
  options(): readonly Option[] {
    const options = [...this.#starts(), ...this.#steps(), ...this.#environment(), ...this.#dueTimers()];
    const [next] = this.#timersByTime();
    if (next === undefined || next[1].due >= HORIZON || !options.every(({ may }) => may)) return options;
    const pass: Option = {
      name: 'time passes',
      process: null,
      may: false,
      own: [...this.timers.keys()].map((id) => `timer ${id}`),
      run: () => {
        this.#time.now = Math.max(this.#time.now, next[1].due);
      },
    };
    return [...options, pass];
  }

  /** Lets an event happen, and all code that it wakes run. */
  async step(option: Option): Promise<void> {
    this.reads.clear();
    this.writes.clear();
    this.#process = option.process;
    this.#verify([option.run]);
    // Every microtask has run by then.
    await new Promise(afterMicrotasks);
    this.#verify(this.#checks);
  }

  /** Whether nothing more must happen; then it makes the last checks. */
  hasEnded(options: readonly Option[]): boolean {
    if (!options.every(({ may }) => may)) return false;
    const hanging = this.clients.find(({ isBusy }) => isBusy);
    if (hanging !== undefined) this.failure ??= new Error(`a call of ${hanging.name} never ends`);
    this.#verify(this.#lastChecks);
    return true;
  }

  *#starts(): Generator<Option> {
    for (const client of this.clients) {
      const call = client.calls[client.next];
      if (client.isBusy || call === undefined) continue;
      const name = `${client.name}: ${call.name || client.next + 1}`;
      yield this.#option(name, client.process, [], () => this.#call(client, call));
    }
  }

  *#steps(): Generator<Option> {
    for (const [id, command] of this.commands) {
      const own = [`command ${id}`];
      const { outcome } = command;
      if (outcome !== null) {
        yield this.#option(`reply ${id}`, command.process, own, () => {
          this.commands.delete(id);
          if ('error' in outcome) command.reject(outcome.error);
          else command.resolve(outcome.value);
        });
      } else if (command.can()) {
        for (const [how, run] of Object.entries(command.outcomes)) {
          const name = how === '' ? `run ${id}` : `run ${id}: ${how}`;
          yield this.#option(name, null, own, () => {
            command.outcome = outcomeOf(run);
          });
        }
      }
    }
  }

  *#environment(): Generator<Option> {
    for (const event of this.events) {
      if (event.used >= event.times || !event.can()) continue;
      const run = () => {
        event.used += 1;
        event.run();
      };
      yield { ...this.#option(event.name, event.process, [`event ${event.name}`], run), may: event.may };
    }
  }

  /** The timer of each process that is due first. */
  *#dueTimers(): Generator<Option> {
    const processes = new Set<string>();
    for (const [id, timer] of this.#timersByTime()) {
      if (timer.due > (this.values['now'] as number)) return;
      if (processes.has(timer.process)) continue;
      processes.add(timer.process);
      yield this.#option(id, timer.process, [`timer ${id}`], timer.run);
    }
  }

  #timersByTime(): [string, Timer][] {
    return [...this.timers].sort(([, one], [, other]) => one.due - other.due);
  }

  #option(name: string, process: string | null, own: readonly string[], run: () => void): Option {
    return { name, process, may: false, own: process === null ? own : [...own, `process ${process}`], run };
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

  #running(name: string): string {
    if (this.#process !== null) return this.#process;
    this.failure = new Error(`${name}: an event without a process called code of one`);
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

function outcomeOf(run: () => unknown): Outcome {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.values(value).forEach(deepFrozen);
    Object.freeze(value);
  }
  return value;
}

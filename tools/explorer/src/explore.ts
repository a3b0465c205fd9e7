import { fakeTime } from './fake-time.ts';
import { type Option, World } from './world.ts';

/** Builds a run: see {@link World}. It must do the same each time. */
export type Scenario = (world: World) => void;

/** Several times as many as the largest scenario has. */
const MAX_STATES = 1_000_000;

/** Events that end in an error. */
export interface Failing {
  readonly events: readonly string[];
  readonly error: unknown;
}

export interface Explored {
  /** The shortest order with an error that was found; null: there is none in all orders. */
  readonly failing: Failing | null;
  readonly states: number;
}

/** The version of each part of a state by its name; equal versions are equal parts. */
type Versions = ReadonlyMap<string, number>;

/** The effect of an event that read these values. */
interface Effect {
  readonly read: readonly (readonly [part: string, version: number | undefined])[];
  readonly changed: readonly (readonly [part: string, version: number])[];
  readonly gone: readonly string[];
}

/** A branch of the search: the events to a state, and the one to try there. */
interface Branch {
  readonly path: readonly string[];
  readonly versions: Versions;
  readonly option: Option | null;
}

/**
 * Runs a scenario on real modules in every order of its events, each state once.
 *
 * The memory of a process can't be compared: its history stands for it, that is its events and what they read. If the
 * histories of all processes and all shared values are equal, so is the state, in whichever order the events came. Code
 * that shares variables must therefore be one process.
 *
 * An event that has read the same before is not run again, because its effect is known; each event that is run is compared
 * with the effect that was foreseen.
 *
 * It replaces timers and clocks of the whole process while it runs.
 *
 * @throws Error if it is too large or not deterministic, or if its processes share more than they declare.
 */
export async function explore(scenario: Scenario): Promise<Explored> {
  const run: { world: World } = { world: new World() };
  const restoreTime = fakeTime(() => run.world);
  // Node.js raises a rejection that nothing handles as an uncaught exception, too.
  const onUncaught = (error: unknown) => {
    run.world.failure ??= error;
  };
  process.on('uncaughtException', onUncaught);
  try {
    return await new Explorer(scenario, run).explore();
  } finally {
    restoreTime();
    process.off('uncaughtException', onUncaught);
  }
}

class Explorer {
  readonly #scenario: Scenario;
  readonly #run: { world: World };
  readonly #resources = countResources();
  readonly #numbers = new Map<string, number>();
  /** The names of the possible events of each state. */
  readonly #states = new Map<string, string>();
  readonly #effects = new Map<number, Effect[]>();

  constructor(scenario: Scenario, run: { world: World }) {
    this.#scenario = scenario;
    this.#run = run;
  }

  async explore(): Promise<Explored> {
    return { failing: await this.#search(), states: this.#states.size };
  }

  /** Depth first. Each branch is replayed from the beginning, because a run can't be taken back. */
  async #search(): Promise<Failing | null> {
    const branches: Branch[] = [{ path: [], versions: new Map(), option: null }];
    for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) {
      let { path, versions, option } = branch;
      if (option !== null && this.#leadsToKnown(option, versions)) continue;
      await this.#replay(path);
      do {
        if (option !== null) {
          await this.#take(option.name);
          path = [...path, option.name];
        }
        const { world } = this.#run;
        const next = this.#versionsAfter(option, versions);
        const state = this.#stateOf(next);
        const options = world.options();
        const names = options
          .map(({ name }) => name)
          .sort()
          .join();
        const known = this.#states.get(state);
        if (option !== null) this.#recordEffect(option, versions, next);
        if (known === undefined && world.hasEnded(options) && countResources() > this.#resources) {
          throw new Error('a real timer or real work is pending');
        }
        if (world.failure !== null) return this.#shortest({ events: path, error: world.failure });
        if (known !== undefined && known !== names) throw hidden(`${path}: ${names} instead of ${known}`);
        this.#states.set(state, names);
        if (this.#states.size > MAX_STATES) throw new Error(`there are more than ${MAX_STATES} states`);
        [versions, option] = [next, null];
        if (known !== undefined) break;
        for (const each of options) {
          if (this.#leadsToKnown(each, versions)) continue;
          // This run continues with the first event; the others wait.
          if (option === null) option = each;
          else branches.push({ path, versions, option: each });
        }
      } while (option !== null);
    }
    return null;
  }

  #leadsToKnown(option: Option, versions: Versions): boolean {
    const state = this.#foreseen(option, versions);
    return state !== null && this.#states.has(state);
  }

  /** Equal arguments have equal numbers. */
  #number(...of: readonly unknown[]): number {
    const key = of.join('|');
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  #stateOf(versions: Iterable<readonly [string, number]>): string {
    const parts = Array.from(versions, (part) => this.#number(...part)).sort((one, other) => one - other);
    return String(this.#number('state', parts));
  }

  #causeOf({ name, own }: Option, versions: Versions): number {
    return this.#number(
      'cause',
      name,
      own.map((part) => versions.get(part)),
    );
  }

  #readsOf(versions: Versions): Effect['read'] {
    return Array.from(this.#run.world.reads, (name) => [`value ${name}`, versions.get(`value ${name}`)] as const);
  }

  /** The versions after an event; null: at the beginning. */
  #versionsAfter(option: Option | null, versions: Versions): Versions {
    const { world } = this.#run;
    const past = option === null ? 0 : this.#number('past', this.#causeOf(option, versions), this.#readsOf(versions));
    const next = new Map<string, number>();
    for (const [name, value] of Object.entries(world.values))
      next.set(`value ${name}`, this.#number('value', text(value)));
    for (const { process } of [...world.clients, ...world.events, { process: 'main' }]) {
      if (process === null) continue;
      const part = `process ${process}`;
      next.set(part, option?.process === process ? past : (versions.get(part) ?? 0));
    }
    for (const { name, used } of world.events) next.set(`event ${name}`, used);
    for (const [id, { due }] of world.timers) {
      const former = option?.name === id ? undefined : versions.get(`timer ${id}`);
      next.set(`timer ${id}`, former ?? this.#number('timer', past, due));
    }
    for (const [id, { outcome }] of world.commands) {
      const part = `command ${id}`;
      const former = versions.get(part) ?? this.#number('command', past);
      const hasRun = outcome !== null && option?.own[0] === part;
      const result = outcome !== null && ('error' in outcome ? outcome.error : outcome.value);
      next.set(part, hasRun ? this.#number('ran', former, 'error' in outcome, text(result)) : former);
    }
    const expected = option && this.#foreseen(option, versions);
    if (option !== null && expected !== null && expected !== this.#stateOf(next)) {
      throw hidden(`${option.name} had another effect before`);
    }
    return next;
  }

  #recordEffect(option: Option, versions: Versions, next: Versions): void {
    const isWritten = (part: string) =>
      this.#run.world.writes.has(part.slice('value '.length)) && part.startsWith('value ');
    const effect: Effect = {
      read: this.#readsOf(versions),
      changed: [...next].filter(([part, version]) => versions.get(part) !== version || isWritten(part)),
      gone: [...versions.keys()].filter((part) => !next.has(part)),
    };
    const cause = this.#causeOf(option, versions);
    this.#effects.set(cause, [...(this.#effects.get(cause) ?? []), effect]);
  }

  /** The state after an event that had the same cause and read the same values before; null if there was none. */
  #foreseen(option: Option, versions: Versions): string | null {
    const effect = this.#effects
      .get(this.#causeOf(option, versions))
      ?.find(({ read }) => read.every(([part, version]) => versions.get(part) === version));
    if (effect === undefined) return null;
    const next = new Map([...versions, ...effect.changed]);
    for (const part of effect.gone) next.delete(part);
    return this.#stateOf(next);
  }

  async #replay(path: readonly string[]): Promise<void> {
    this.#run.world = new World();
    this.#scenario(this.#run.world);
    for (const name of path) await this.#take(name);
  }

  async #take(name: string): Promise<void> {
    const option = this.#run.world.options().find((each) => each.name === name);
    if (option === undefined) throw new Error(`the scenario is not deterministic: there is no ${name}`);
    await this.#run.world.step(option);
  }

  /** Runs the events of a list as far as they are possible, then whatever must still happen. */
  async #play(path: readonly string[]): Promise<Failing | null> {
    const rest = [...path];
    await this.#replay([]);
    for (const events: string[] = []; ; ) {
      const { world } = this.#run;
      const options = world.options();
      const hasEnded = world.hasEnded(options);
      if (world.failure !== null) return { events, error: world.failure };
      const option = nextOf(rest, options) ?? (hasEnded ? undefined : options.find(({ may }) => !may));
      if (option === undefined) return null;
      events.push(option.name);
      await this.#take(option.name);
    }
  }

  /** Leaves out one event or two, as long as the error remains. */
  async #shortest(best: Failing): Promise<Failing> {
    for (let one = 0; one < best.events.length; one += 1) {
      for (let other = one; other < best.events.length; other += 1) {
        const rest = best.events.filter((_, index) => index !== one && index !== other);
        const found = await this.#play(rest);
        if (found !== null && found.events.length < best.events.length) return this.#shortest(found);
      }
    }
    return best;
  }
}

/** Takes names from a list until one is possible. */
function nextOf(rest: string[], options: readonly Option[]): Option | undefined {
  // The number of a command depends on earlier commands of its kind.
  const withoutNumber = (name: string) => name.split(' #')[0];
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const same = options.find((option) => option.name === name);
    const alike = options.find((option) => withoutNumber(option.name) === withoutNumber(name as string));
    if (same !== undefined || alike !== undefined) return same ?? alike;
  }
  return undefined;
}

/** The number of open resources, except for standard output and error, which Node.js opens at their first use. */
const countResources = (): number =>
  process.getActiveResourcesInfo().filter((type) => type !== 'PipeWrap' && type !== 'TTYWrap').length;

function hidden(what: string): Error {
  return new Error(`processes share more than they declare: ${what}`);
}

function text(value: unknown): string {
  const plain = (_: string, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`;
    if (part instanceof Error) return String(part);
    return part instanceof Map ? [...part] : part;
  };
  return JSON.stringify(value, plain) ?? '';
}

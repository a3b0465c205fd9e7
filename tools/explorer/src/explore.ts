import { fakeTime } from '../fakes/time.ts';
import { causeOf } from './parts.ts';
import { type Effect, keyOf, type State, type Step, stateAfter } from './state.ts';
import { type Scenario, World } from './world.ts';

/** Several times as many as the largest scenario has. */
const MAX_STATES = 1_000_000;

/** A schedule that ends in an error. */
export interface Failing {
  readonly schedule: readonly string[];
  readonly error: unknown;
}

export interface Explored {
  /** The shortest failing schedule that was found; null: all schedules keep the promise. */
  readonly failing: Failing | null;
  /** How many states were found. */
  readonly states: number;
}

/**
 * Runs a scenario in every order of its steps. A step that leads to a known state is not taken, as far as that can be foreseen
 * from what the same step has read and written before. Code that shares variables must be one process.
 *
 * It replaces timers and clocks of the whole process while it runs.
 *
 * @throws Error if the scenario is too large or not deterministic, or if its processes share more than they declare.
 */
export async function explore(scenario: Scenario): Promise<Explored> {
  const run = { world: new World() };
  const restoreTime = fakeTime(() => run.world);
  // Node.js raises a rejection that nothing handles as an uncaught exception, too.
  const onUncaught = (error: unknown) => {
    run.world.failure ??= error;
  };
  process.on('uncaughtException', onUncaught);
  try {
    const search = new Search(async () => {
      run.world = new World();
      await run.world.build(scenario);
      return run.world;
    });
    return await search.explore();
  } finally {
    restoreTime();
    process.off('uncaughtException', onUncaught);
  }
}

class Search {
  readonly #begin: () => Promise<World>;
  readonly #resources = countResources();
  /** The names of the possible steps of each state that was found. */
  readonly #found = new Map<string, string>();
  /** The effects of steps by their causes. Those of one cause differ in what they read. */
  readonly #effects = new Map<string, Effect[]>();

  /** @param begin Builds a new world. */
  constructor(begin: () => Promise<World>) {
    this.#begin = begin;
  }

  async explore(): Promise<Explored> {
    const failing = await this.#explore(await this.#begin(), []);
    return { failing: failing && (await this.#shortest(failing)), states: this.#found.size };
  }

  /** Explores whatever can follow in a world that a schedule has led to. Returns the first failing schedule. */
  async #explore(world: World, schedule: readonly string[]): Promise<Failing | null> {
    const { state } = world;
    const steps = world.steps();
    if (world.failure === null) {
      if (this.#isKnown(state, steps)) return null;
      if (world.hasEnded() && countResources() > this.#resources)
        throw new Error('a real timer or real work is pending');
    }
    if (world.failure !== null) return { schedule, error: world.failure };
    for (const step of steps) {
      const foreseen = this.#foresee(state, step);
      if (foreseen !== null && this.#found.has(keyOf(foreseen))) continue;
      // This world takes the first step. Each other step needs a world of its own, because a step can't be taken back.
      const next = world.state === state ? world : await this.#replay(schedule);
      const effect = await take(next, step.name);
      if (foreseen === null) this.#record(state, step, effect);
      // It may have read what the explorer does not see.
      else if (keyOf(foreseen) !== keyOf(next.state)) throw hidden(`${step.name} had another effect before`);
      const failing = await this.#explore(next, [...schedule, step.name]);
      if (failing !== null) return failing;
    }
    return null;
  }

  /** Whether a state was found before. Then the same steps must be possible as before. */
  #isKnown(state: State, steps: readonly Step[]): boolean {
    const names = String(steps.map(({ name }) => name).sort());
    const before = this.#found.get(keyOf(state));
    if (before !== undefined && before !== names) throw hidden(`${names} instead of ${before}`);
    this.#found.set(keyOf(state), names);
    if (this.#found.size > MAX_STATES) throw new Error(`there are more than ${MAX_STATES} states`);
    return before !== undefined;
  }

  /** The state after a step whose effect is known, because the same was read by the same step before; otherwise null. */
  #foresee(state: State, step: Step): State | null {
    const isSame = ({ read }: Effect) => [...read].every(([part, version]) => state.get(part) === version);
    const effect = this.#effects.get(causeOf(state, step))?.find(isSame);
    return effect === undefined ? null : stateAfter(state, effect);
  }

  #record(state: State, step: Step, effect: Effect): void {
    const cause = causeOf(state, step);
    this.#effects.set(cause, [...(this.#effects.get(cause) ?? []), effect]);
  }

  async #replay(schedule: readonly string[]): Promise<World> {
    const world = await this.#begin();
    for (const name of schedule) await take(world, name);
    return world;
  }

  /** Leaves out steps, as long as the error remains. */
  async #shortest(best: Failing): Promise<Failing> {
    for (const left of best.schedule.keys()) {
      const found = await this.#play(best.schedule.toSpliced(left, 1));
      if (found !== null && found.schedule.length < best.schedule.length) return this.#shortest(found);
    }
    return best;
  }

  /** Takes the steps of a schedule that are possible, then those that must still happen. */
  async #play(wanted: readonly string[]): Promise<Failing | null> {
    const world = await this.#begin();
    const schedule: string[] = [];
    const takeIf = async (step: Step | undefined) => {
      if (step === undefined) return;
      schedule.push(step.name);
      await world.take(step);
    };
    for (const name of wanted) await takeIf(world.steps().find((step) => step.name === name));
    while (!world.hasEnded() && world.failure === null) await takeIf(world.steps().find(({ may }) => !may));
    return world.failure === null ? null : { schedule, error: world.failure };
  }
}

async function take(world: World, name: string): Promise<Effect> {
  const step = world.steps().find((each) => each.name === name);
  if (step === undefined) throw new Error(`the scenario is not deterministic: there is no ${name}`);
  return world.take(step);
}

/** The number of open resources, except for standard output and error, which Node.js opens at their first use. */
const countResources = (): number =>
  process.getActiveResourcesInfo().filter((type) => type !== 'PipeWrap' && type !== 'TTYWrap').length;

const hidden = (what: string): Error => new Error(`processes share more than they declare: ${what}`);

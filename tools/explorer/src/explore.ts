import { hash } from 'node:crypto';
import { fakeTime } from '../fakes/time.ts';
import { type Scenario, type Step, World } from './world.ts';

/** Several times as many as a run of the largest scenario has. */
const MAX_STEPS = 1_000;

/** An error, and the names of the steps that lead to it. */
export interface Failing {
  readonly schedule: readonly string[];
  /** Its message. */
  readonly error: string;
}

export interface Explored {
  /** The first failing run, without the steps that the error does not need; null: no run fails. */
  readonly failing: Failing | null;
  readonly runs: number;
}

export interface ExploreOptions {
  /** The orders of another seed are others. */
  readonly seed: number;
  readonly maxRuns: number;
}

/** Chooses among the possible steps. Null ends the run. */
type Choose = (steps: readonly Step[]) => Step | null;

/**
 * Runs a scenario in random orders of its steps, until one fails.
 *
 * @throws Error if a run does not end, leaves real work behind or can't be repeated.
 */
export async function explore(scenario: Scenario, { seed, maxRuns }: ExploreOptions): Promise<Explored> {
  for (let runs = 1; runs <= maxRuns; runs += 1) {
    const found = await runOnce(scenario, atRandom(`${seed} ${runs}`));
    if (found === null) continue;
    const again = await runOnce(scenario, inOrder(found.schedule));
    if (again === null) throw new Error(`the scenario is not deterministic: ${found.schedule}`);
    return { failing: await shorten(scenario, again), runs };
  }
  return { failing: null, runs: maxRuns };
}

/** Runs a scenario in a new world. Replaces the timers, the clocks and the error handling of the whole process meanwhile. */
async function runOnce(scenario: Scenario, choose: Choose): Promise<Failing | null> {
  const world = new World();
  const resources = countResources();
  const restoreTime = fakeTime(world);
  // Node.js raises a rejection that nothing handles as an uncaught exception, too.
  const onUncaught = (error: unknown) => {
    world.failure ??= error;
  };
  process.on('uncaughtException', onUncaught);
  try {
    const schedule: string[] = [];
    scenario(world);
    while (world.failure === null) {
      const step = choose(world.steps());
      if (step === null) break;
      if (schedule.push(step.name) > MAX_STEPS) throw new Error(`a run has more than ${MAX_STEPS} steps`);
      await world.take(step);
    }
    const { failure } = world;
    if (failure !== null) return { schedule, error: failure instanceof Error ? failure.message : String(failure) };
    if (countResources() > resources) throw new Error('a real timer or real work is pending');
    return null;
  } finally {
    restoreTime();
    process.off('uncaughtException', onUncaught);
  }
}

/** Leaves out steps, as long as the error remains. */
async function shorten(scenario: Scenario, failing: Failing): Promise<Failing> {
  for (const left of failing.schedule.keys()) {
    const found = await runOnce(scenario, inOrder(failing.schedule.toSpliced(left, 1)));
    if (found !== null && found.schedule.length < failing.schedule.length) return shorten(scenario, found);
  }
  return failing;
}

/**
 * Draws an order of all names of steps, and takes the possible step that comes first in it. Some runs never draw another
 * order, which delays a step for long. Others draw one before almost every step.
 */
function atRandom(name: string): Choose {
  const redrawRate = random(name) ** 3;
  let count = 0;
  /** The count of steps at which the present order was drawn. */
  let drawnAt = 0;
  return (possible) => {
    count += 1;
    if (random(`${name} ${count}`) < redrawRate) drawnAt = count;
    // What may be left out comes rather late. Otherwise most failures would happen before there is anything to fail.
    const rankOf = (step: Step) => random(`${name} ${drawnAt} ${step.name}`) ** (step.may ? 0.5 : 1);
    const ranked = possible.map((step) => ({ step, rank: rankOf(step) })).sort((one, other) => one.rank - other.rank);
    return ranked[0]?.step ?? null;
  };
}

/** Takes the steps of a schedule that are possible, then those that must happen. */
function inOrder(schedule: readonly string[]): Choose {
  const names = schedule.values();
  return (possible) => {
    for (const name of names) {
      const step = possible.find((each) => each.name === name);
      if (step !== undefined) return step;
    }
    return possible.find(({ may }) => !may) ?? null;
  };
}

/** A number from 0 to 1, always the same for a name. */
const random = (name: string): number => hash('sha1', name, 'buffer').readUInt32LE() / 2 ** 32;

/** The number of open resources, except for standard output and error, which Node.js opens at their first use. */
const countResources = (): number =>
  process.getActiveResourcesInfo().filter((type) => type !== 'PipeWrap' && type !== 'TTYWrap').length;

import { randomInt } from 'node:crypto';
import { type Explored, type ExploreOptions, explore } from './explore.ts';
import { importMutants } from './mutant.ts';
import type { Scenario } from './world.ts';

const ROOT = new URL('../../../', import.meta.url);

/** A deliberate error in a module of the scenario or one that it imports: a text that occurs once, and its replacement. */
export type SeededError = readonly [title: string, path: string, from: string, to: string];

/** A finding, as one line of JSON for the test that runs the program of the scenario. */
export interface Finding extends Explored {
  readonly title: string;
  /** The deliberate error in the modules, or null for the modules as they are. */
  readonly seeded: string | null;
  readonly seed: number;
}

const IS_NIGHTLY = process.env['ALL_TESTS'] === 'nightly';

/** The same orders in each run of the tests, and at night more and others. */
const OPTIONS: ExploreOptions = {
  seed: Number(process.env['SEED'] ?? (IS_NIGHTLY ? randomInt(2 ** 31) : 1)),
  maxRuns: IS_NIGHTLY ? 100_000 : 4_000,
};

/**
 * Explores a scenario on modules as they are, then once with each deliberate error.
 *
 * @param paths The modules, relative to the root of the repository. They are loaded by path, because they are not public.
 * @param scenarioOf Makes the scenario from the exports of the modules.
 */
export async function trial<Modules>(
  title: string,
  paths: readonly string[],
  scenarioOf: (modules: Modules) => Scenario,
  errors: readonly SeededError[] = [],
): Promise<void> {
  const entries = paths.map((path) => new URL(path, ROOT));
  async function report(seeded: string | null, modules: readonly object[]): Promise<void> {
    const explored = await explore(scenarioOf(Object.assign({}, ...modules)), OPTIONS);
    console.log(JSON.stringify({ title, seeded, seed: OPTIONS.seed, ...explored } satisfies Finding));
  }
  await report(null, await Promise.all(entries.map(({ href }) => import(href))));
  for (const [seeded, path, from, to] of errors) {
    await report(seeded, await importMutants(entries, new URL(path, ROOT), from, to));
  }
}

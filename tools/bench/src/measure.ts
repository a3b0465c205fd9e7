import { fill, send, verify } from './catalogue.ts';
import { runLoad, type Sample } from './load.ts';
import { type Contender, keepAwake, type Server, show } from './server.ts';
import type { OpenStorage } from './storages.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

/** A plan of measurements. */
export interface Plan {
  readonly storage: OpenStorage;
  /** The ratios are those to the first one. */
  readonly contenders: readonly Contender[];
  readonly workloads: readonly WorkloadName[];
  readonly connections: readonly number[];
  /** The number of pets before the workloads. */
  readonly pets: number;
  readonly rounds: number;
  /** Length of a sample. */
  readonly seconds: number;
}

/** One contender under one workload: a sample for each round. */
export interface Measurement {
  readonly contender: string;
  readonly workload: WorkloadName;
  readonly connections: number;
  readonly pets: number;
  readonly samples: Sample[];
}

/** A server is warm when its CPU time for a request differs by less than this share between two successive runs. */
const WARM = 0.05;
const WARM_UP_SECONDS = 0.5;
const WARM_UP_RUNS = 20;

/** A contender, and the place of its pets. */
interface Entry {
  readonly contender: Contender;
  readonly environment: NodeJS.ProcessEnv;
  pets: number;
  ids: readonly string[];
}

interface Running {
  readonly entry: Entry;
  readonly server: Server;
}

/**
 * Measures each contender in each round with each workload. A round starts all of them anew, because processes of one
 * program differ. It takes its samples of one cell right after each other, in turns, because the machine's speed changes.
 */
export async function measure(plan: Plan): Promise<readonly Measurement[]> {
  const { contenders, workloads, connections, pets, rounds, seconds, storage } = plan;
  const entries: Entry[] = [];
  for (const contender of contenders) {
    entries.push({ contender, environment: await storage.environment(), pets: 0, ids: [] });
  }
  const measured = new Map<string, Measurement>();
  for (let round = 1; round <= rounds; round += 1) {
    const label = `${pets.toLocaleString('en')} pets, round ${round} of ${rounds}`;
    const running: Running[] = [];
    try {
      for (const entry of round % 2 === 0 ? entries.toReversed() : entries) {
        show(`${label}: starting ${entry.contender.name}`);
        const server = await entry.contender.start(entry.environment);
        running.push({ entry, server });
        await grow(entry, server, pets);
        await verify(server, entry.ids[0] as string);
      }
      for (const [workload, count] of workloads.flatMap((each) => connections.map((count) => [each, count] as const))) {
        const run = async ({ entry, server }: Running, length: number) => {
          show(`${label}: ${workload}, ${count} connections, ${server.name}`);
          const load = { ids: entry.ids, connections: count, seconds: length, commands: storage.commands };
          const sample = await runLoad(server, WORKLOADS[workload], load);
          if (workload === 'create') entry.pets += sample.succeeded;
          return sample;
        };
        for (const each of running) await warmUp(() => run(each, WARM_UP_SECONDS));
        const letSleep = count === 1 ? keepAwake() : null;
        for (const each of running) {
          const contender = each.entry.contender.name;
          const key = JSON.stringify([workload, count, contender]);
          const measurement = measured.get(key) ?? { contender, workload, connections: count, pets, samples: [] };
          measurement.samples.push(await run(each, seconds));
          measured.set(key, measurement);
        }
        letSleep?.();
      }
    } finally {
      await Promise.all(running.map(({ server }) => server.stop()));
    }
  }
  show('');
  return [...measured.values()];
}

/** Repeats a run until V8 has compiled what it uses. */
async function warmUp(run: () => Promise<Sample>): Promise<void> {
  let before = Number.NaN;
  for (let runs = 0; runs < WARM_UP_RUNS; runs += 1) {
    const { cpu } = await run();
    if (Math.abs(cpu / before - 1) < WARM) return;
    before = cpu;
  }
}

/** Makes sure that a server has so many pets. A restart may have lost earlier ones. */
async function grow(entry: Entry, server: Server, pets: number): Promise<void> {
  const [id] = entry.ids;
  if (id === undefined || !(await send(server, { kind: 'get', id })).ok) entry.pets = 0;
  const missing = pets - entry.pets;
  if (missing <= 0) return;
  show(`${server.name}: ${missing.toLocaleString('en')} more pets`);
  entry.ids = await fill(server, missing);
  entry.pets = pets;
}

import { fill, importPets, send, verify, walkPages } from './catalogue.ts';
import type { RunLoad, Sample } from './load.ts';
import type { OpenStorage } from './open-storage.ts';
import { show } from './progress.ts';
import type { Contender, Server } from './server.ts';
import { type Catalogue, FROM_ANYWHERE, WORKLOADS, type WorkloadName } from './workloads.ts';

/** A plan of measurements. */
export interface Plan {
  readonly storage: OpenStorage;
  readonly runLoad: RunLoad;
  /** The ratios are those to the first one. */
  readonly contenders: readonly Contender[];
  readonly workloads: readonly WorkloadName[];
  readonly connections: readonly number[];
  /** Numbers of pets, ascending. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  /** Length of a sample. */
  readonly seconds: number;
  /** Whether one process of each contender serves all sizes and rounds. Absent: each round starts them anew. */
  readonly keepsServers?: boolean;
}

/** A sample, with what a database server did for it. */
export interface StorageSample extends Sample {
  /** Its CPU time for a request, in microseconds; NaN if there is no such server, or if it can't be read. */
  readonly storageCpu: number;
  /** The number of commands that it ran for a request; NaN if there is no such server. */
  readonly commands: number;
}

/** One contender under one workload: a sample for each round. */
export interface Measurement {
  readonly contender: string;
  readonly workload: WorkloadName;
  readonly connections: number;
  readonly pets: number;
  readonly samples: StorageSample[];
}

/** Times in which V8 compiles what each request uses, after a start, and what a workload uses, in seconds. */
const WARM_UP = { server: 4, workload: 0.7 };

/** A contender, and the place of its pets. */
interface Entry {
  readonly contender: Contender;
  readonly environment: NodeJS.ProcessEnv;
  pets: number;
  catalogue: Catalogue;
}

interface Running {
  readonly entry: Entry;
  readonly server: Server;
}

/**
 * Measures each contender in each round with each workload. A round starts all of them anew, unless the plan keeps them,
 * because processes of one program differ. It takes its samples of one cell right after each other, in turns, because the
 * machine's speed changes.
 */
export async function measure(plan: Plan): Promise<readonly Measurement[]> {
  const entries = plan.contenders.map((contender): Entry => {
    return { contender, environment: plan.storage.environment(), pets: 0, catalogue: { ids: [], pages: [] } };
  });
  const measured = new Map<string, Measurement>();
  const running: Running[] = [];
  const stopAll = () => Promise.all(running.splice(0).map(({ server }) => server.stop()));
  try {
    for (const { size, round, workloads } of plan.sizes.flatMap((size) => visitsOf(plan, size))) {
      const label = `${size.toLocaleString('en')} pets, round ${round} of ${plan.rounds}`;
      const starts = running.length === 0;
      if (starts) {
        for (const entry of round % 2 === 0 ? entries.toReversed() : entries) {
          show(`${label}: starting ${entry.contender.name}`);
          running.push({ entry, server: await entry.contender.start(entry.environment) });
        }
      }
      for (const { entry, server } of running) {
        await grow(entry, server, { size, walk: plan.workloads.includes(FROM_ANYWHERE) });
        await verify(server, entry.catalogue.ids[0] as string);
      }
      await measureRound(running, { ...plan, workloads, label, starts }, (entry, workload, connections, sample) => {
        const contender = entry.contender.name;
        const key = JSON.stringify([size, workload, connections, contender]);
        const measurement = measured.get(key) ?? { contender, workload, connections, pets: size, samples: [] };
        measurement.samples.push(sample);
        measured.set(key, measurement);
      });
      if (!plan.keepsServers) await stopAll();
    }
  } finally {
    await stopAll();
  }
  show('');
  return [...measured.values()];
}

/** The rounds of one size, each with its workloads. Processes that are kept finish one workload before the next creates pets. */
function visitsOf({ rounds, workloads, keepsServers }: Plan, size: number) {
  const visit = (some: typeof workloads) =>
    Array.from({ length: rounds }, (_, index) => ({ size, round: index + 1, workloads: some }));
  return keepsServers ? workloads.flatMap((workload) => visit([workload])) : visit(workloads);
}

/** @param plan.starts Whether the servers have just been started. */
async function measureRound(
  running: readonly Running[],
  { workloads, connections, seconds, storage, runLoad, label, starts }: Plan & { label: string; starts: boolean },
  onSample: (entry: Entry, workload: WorkloadName, connections: number, sample: StorageSample) => void,
): Promise<void> {
  const run = async ({ entry, server }: Running, workload: WorkloadName, count: number, length: number) => {
    show(`${label}: ${workload}, ${count} connections, ${server.name}`);
    const options = { catalogue: entry.catalogue, connections: count, seconds: length };
    const before = await storage.usage?.();
    const sample = await runLoad(server, WORKLOADS[workload], options);
    const after = await storage.usage?.();
    if (workload === 'create') entry.pets += sample.succeeded;
    const responses = sample.succeeded + sample.failed;
    const share = (of: 'cpuSeconds' | 'commands') =>
      before && after ? (after[of] - before[of]) / responses : Number.NaN;
    return { ...sample, storageCpu: share('cpuSeconds') * 1e6, commands: share('commands') };
  };
  const warmUp = async (workload: WorkloadName, length: number) => {
    // A lone request runs other code than many.
    for (const count of new Set([Math.max(...connections), Math.min(...connections)])) {
      for (const each of running) await run(each, workload, count, length);
    }
  };
  if (starts) await warmUp('get one', WARM_UP.server);
  for (const workload of workloads) {
    await warmUp(workload, WARM_UP.workload);
    for (const count of connections) {
      for (const each of running) onSample(each.entry, workload, count, await run(each, workload, count, seconds));
    }
  }
}

/** This many pets or more are imported, if the storage keeps them. */
const IMPORT = 50_000;

/** Makes sure that a server has so many pets. A restart may have lost earlier ones. */
async function grow(
  entry: Entry,
  server: Server,
  { size, walk }: { readonly size: number; readonly walk: boolean },
): Promise<void> {
  const [id] = entry.catalogue.ids;
  if (id === undefined || !(await send(server, { kind: 'get', id })).ok) {
    entry.pets = 0;
    entry.catalogue = { ids: [], pages: [] };
  }
  const missing = size - entry.pets;
  if (missing <= 0) return;
  show(`${server.name}: ${missing.toLocaleString('en')} more pets`);
  const imports = missing >= IMPORT && entry.environment['STORAGE'] !== 'memory';
  if (imports) await importPets(entry.environment, entry.pets, missing);
  const ids = imports ? [] : await fill(server, missing);
  entry.catalogue = walk || imports ? await walkPages(server, size) : { ids, pages: [] };
  entry.pets = size;
}

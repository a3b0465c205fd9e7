import { join } from 'node:path';
import { importPets } from '../import-pets.ts';
import { fill, runLoad, type Sample } from '../load.ts';
import { type BenchOptions, chosen } from '../options.ts';
import { fromAnywhere, pagesOf } from '../pages.ts';
import { animalStore } from '../peers.ts';
import type { Progress } from '../progress.ts';
import { medianOf, table } from '../report.ts';
import { type Measurement, saveJson } from '../results.ts';
import { type Server, startServer } from '../server.ts';
import { type BenchStorage, openStorage, STORAGES, type StorageName } from '../storages.ts';
import { WORKLOADS, type Workload } from '../workloads.ts';

const SIZES: Readonly<Record<StorageName, readonly number[]>> = {
  memory: [1_000, 100_000, 1_000_000, 5_000_000],
  sqlite: [1_000, 100_000, 1_000_000, 10_000_000],
  mongodb: [1_000, 100_000, 1_000_000, 10_000_000],
};
const QUICK_SIZES = [1_000, 100_000];

const CONNECTIONS = 32;
const ROUNDS = 3;
/** Short: the creations of one size should not reach the next one. */
const SECONDS = 1;
/** More operations than a round serves, and more places than the caches hold: a large catalogue can't hide behind them. */
const VARIETY = 64_000;
const KEEP = { paths: 10_000, ids: 200_000 };

/** The cost of requests while the catalogue grows, on one server for each storage. */
export interface Growth {
  readonly storage: StorageName;
  /** Numbers of pets. */
  readonly sizes: readonly number[];
  /** What each workload measured at each size. */
  readonly workloads: Readonly<Record<string, readonly Pick<Measurement, 'samples'>[]>>;
}

/** Measures what requests cost while the catalogue grows. */
export async function run(options: BenchOptions, progress: Progress): Promise<void> {
  for (const name of chosen(STORAGES, options)) {
    const storage = await openStorage(name);
    if ('missing' in storage) {
      progress.warn(`NOT MEASURED ${name}: ${storage.missing}`);
      continue;
    }
    try {
      const sizes = options.quick ? QUICK_SIZES : SIZES[name];
      const growth = await measureGrowth({ name, storage, sizes }, progress);
      progress.clear();
      report(growth, options.out);
    } finally {
      await storage.close();
    }
  }
}

async function measureGrowth(
  { name, storage, sizes }: { name: StorageName; storage: BenchStorage; sizes: readonly number[] },
  progress: Progress,
): Promise<Growth> {
  const reached: number[] = [];
  const workloads: Record<string, Pick<Measurement, 'samples'>[]> = {};
  const environment = storage.environment();
  const server = await startServer({ name, command: animalStore(), environment });
  try {
    let pets = 0;
    for (const size of sizes) {
      progress.show(`${name}: growing to ${size.toLocaleString('en')} pets`);
      // Nothing in memory is there for another process.
      if (name === 'memory') await fill(server, size - pets);
      else await importPets(environment, pets, size - pets);
      pets = Math.max(pets, size);
      reached.push(pets);
      const { paths, ids } = await pagesOf(server, pets, KEEP);
      for (const [workload, choose] of Object.entries(workloadsWith(paths))) {
        progress.show(`${name}: ${workload} of ${pets.toLocaleString('en')} pets`);
        const [warmUp, ...samples] = await measure(server, choose, ids);
        if (workload === 'create') pets += [warmUp, ...samples].reduce((sum, { succeeded }) => sum + succeeded, 0);
        workloads[workload] ??= [];
        workloads[workload].push({ samples });
      }
    }
  } finally {
    await server.stop();
  }
  return { storage: name, sizes: reached, workloads };
}

function workloadsWith(paths: readonly string[]): Readonly<Record<string, Workload>> {
  return {
    'get one': WORKLOADS['get one'],
    'list 20': WORKLOADS['list 20'],
    'list 100 by status': WORKLOADS['list 100 by status'],
    'list 100 from anywhere': fromAnywhere(paths),
    create: WORKLOADS.create,
  };
}

/** @returns The warm-up, and the rounds. */
async function measure(server: Server, workload: Workload, ids: readonly string[]): Promise<[Sample, ...Sample[]]> {
  const options = { ids, connections: CONNECTIONS, seconds: SECONDS, variety: VARIETY };
  const samples: [Sample, ...Sample[]] = [await runLoad(server, workload, { ...options, seed: 0 })];
  for (let seed = 1; seed <= ROUNDS; seed += 1) samples.push(await runLoad(server, workload, { ...options, seed }));
  return samples;
}

function report({ storage, sizes, workloads }: Growth, folder: string): void {
  const rows = Object.entries(workloads).flatMap(([workload, measured]) => [
    [`  ${workload}: CPU µs`, ...measured.map((one) => medianOf(one, 'cpu').toFixed(1))],
    [`  ${workload}: p50 ms`, ...measured.map((one) => medianOf(one, 'p50').toFixed(2))],
  ]);
  console.log(table([[`${storage}: cost of a request`, ...sizes.map((size) => size.toLocaleString('en'))], ...rows]));
  saveJson(join(folder, `growth-${storage}.json`), { storage, sizes, workloads });
}

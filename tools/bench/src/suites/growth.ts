import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fill, runLoad, type Sample } from '../load.ts';
import { type BenchOptions, chosen } from '../options.ts';
import { pagesOf } from '../pages.ts';
import { animalStore } from '../peers.ts';
import type { Progress } from '../progress.ts';
import { table } from '../report.ts';
import { saveJson } from '../results.ts';
import { type Server, startServer } from '../server.ts';
import { median } from '../statistics.ts';
import { type BenchStorage, openStorage, STORAGES, type StorageName } from '../storages.ts';
import { lineChart } from '../svg.ts';
import { WORKLOADS, type Workload } from '../workloads.ts';

const SIZES: Readonly<Record<StorageName, readonly number[]>> = {
  memory: [1_000, 10_000, 100_000, 1_000_000, 5_000_000],
  sqlite: [1_000, 10_000, 100_000, 1_000_000],
  mongodb: [1_000, 10_000, 100_000, 1_000_000],
};
const QUICK_SIZES = [1_000, 10_000];

const CONNECTIONS = 32;
const ROUNDS = 3;
const SECONDS = 2;
/** Ids that requests choose from: many, so that a large catalogue can't hide behind caches. */
const IDS = 200_000;

/** The cost of requests while the catalogue grows, on one server for each storage. */
interface Growth {
  readonly storage: StorageName;
  readonly sizes: readonly number[];
  /** For each workload a sample for each size. */
  readonly workloads: Readonly<Record<string, readonly Sample[]>>;
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
  const workloads: Record<string, Sample[]> = {};
  const server = await startServer({ name, command: animalStore(), environment: storage.environment() });
  try {
    const ids: string[] = [];
    let pets = 0;
    for (const size of sizes) {
      progress.show(`${name}: growing to ${size.toLocaleString('en')} pets`);
      const share = Math.max(1_000, Math.ceil((IDS * (size - pets)) / size));
      ids.push(...(await fill(server, size - pets, share)));
      pets = size;
      for (const [workload, choose] of Object.entries(await workloadsFor(server, size))) {
        progress.show(`${name}: ${workload} of ${size.toLocaleString('en')} pets`);
        workloads[workload] ??= [];
        workloads[workload].push(await measure(server, choose, ids));
      }
    }
  } finally {
    await server.stop();
  }
  return { storage: name, sizes, workloads };
}

async function workloadsFor(server: Server, size: number): Promise<Readonly<Record<string, Workload>>> {
  const pages = await pagesOf(server, size);
  return {
    'get one': WORKLOADS['get one'],
    'list 100 by status': WORKLOADS['list 100 by status'],
    'list 100 from anywhere': (random) => ({ kind: 'page', path: pages[random(pages.length)] as string }),
    create: WORKLOADS.create,
  };
}

/** The medians of the rounds. */
async function measure(server: Server, workload: Workload, ids: readonly string[]): Promise<Sample> {
  const samples: Sample[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    samples.push(await runLoad(server, workload, { ids, connections: CONNECTIONS, seconds: SECONDS }));
  }
  const middle = (key: keyof Sample) => median(samples.map((sample) => sample[key]));
  return {
    perSecond: middle('perSecond'),
    p50: middle('p50'),
    p99: middle('p99'),
    cpu: middle('cpu'),
    busy: middle('busy'),
    failed: middle('failed'),
  };
}

function report({ storage, sizes, workloads }: Growth, folder: string): void {
  const rows = Object.entries(workloads).flatMap(([workload, samples]) => [
    [`  ${workload}: CPU µs`, ...samples.map(({ cpu }) => cpu.toFixed(1))],
    [`  ${workload}: p50 ms`, ...samples.map(({ p50 }) => p50.toFixed(2))],
  ]);
  console.log(table([[`${storage}: cost of a request`, ...sizes.map((size) => size.toLocaleString('en'))], ...rows]));
  saveJson(join(folder, `growth-${storage}.json`), { storage, sizes, workloads });
  const chart = lineChart({
    title: `Median latency by the number of pets, ${storage}, ${CONNECTIONS} connections`,
    series: Object.entries(workloads).map(([name, samples]) => ({ name, values: samples.map(({ p50 }) => p50) })),
    positions: sizes,
    unit: 'ms',
    positionUnit: 'pets',
  });
  writeFileSync(join(folder, `growth-${storage}.svg`), chart);
}

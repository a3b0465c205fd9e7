import { resolve } from 'node:path';
import { growthChart, requestsChart, writeChart } from './charts.ts';
import { runLoad } from './load.ts';
import { type Measurement, measure, type Plan } from './measure.ts';
import type { BenchOptions } from './options.ts';
import { animalStore, application, preparePeers } from './peers.ts';
import { notMeasured } from './progress.ts';
import { type Contender, program } from './server.ts';
import { eachStorage, type Storage, type StorageName } from './storages.ts';
import { measurementTable, ratioTable } from './tables.ts';
import { FROM_ANYWHERE } from './workloads.ts';
import { runWrk } from './wrk.ts';

interface Comparison extends Omit<Plan, 'storage' | 'contenders' | 'sizes' | 'runLoad'> {
  readonly contenders: (storage: Storage, options: BenchOptions) => readonly Contender[];
  readonly sizes: (storage: Storage) => readonly number[];
  /** Absent: all. */
  readonly storages?: readonly StorageName[];
  /** The differences of a quick run. */
  readonly quick?: Partial<Omit<Comparison, 'quick'>>;
  /** Draws the chart of a whole run for docs/. */
  readonly chart?: (title: string, measurements: readonly Measurement[]) => string;
}

export const COMPARISONS = {
  requests: {
    contenders({ peers }) {
      preparePeers();
      return [...peers, animalStore];
    },
    workloads: ['get one', 'list 20', 'list 100 by status', 'mixed lists', '90 % reads', 'create'],
    connections: [1, 32, 128],
    sizes: () => [10_000],
    rounds: 5,
    seconds: 1,
    quick: {
      storages: ['memory', 'mongodb'],
      contenders({ peers: [base] }) {
        preparePeers();
        return [base, animalStore];
      },
      workloads: ['get one', 'list 20', 'create'],
      connections: [32],
      sizes: () => [1_000],
      rounds: 3,
    },
    chart: requestsChart,
  },
  checkout: {
    contenders(_, { checkout }) {
      if (checkout === undefined) throw new Error('name the folder of the other checkout, its dependencies installed');
      return [program('the other checkout', application('http', resolve(checkout))), animalStore];
    },
    workloads: ['get one', 'list 20', 'list 100 by status', 'create'],
    connections: [32],
    sizes: () => [1_000],
    // Many short rounds show a difference of a few hundredths.
    rounds: 15,
    seconds: 0.5,
    quick: { rounds: 5 },
  },
  growth: {
    contenders: () => [animalStore],
    workloads: ['get one', 'list 20', 'list 100 by status', FROM_ANYWHERE, 'create'],
    connections: [32],
    sizes: ({ sizes }) => sizes,
    rounds: 3,
    // The samples are short, so that the creations of one size do not reach the next one.
    seconds: 0.5,
    // A restart would lose millions of pets in memory, and processes of one program differ.
    keepsServers: true,
    quick: { sizes: ({ sizes }) => sizes.slice(0, 2) },
    chart: growthChart,
  },
} satisfies Record<string, Comparison>;

/** Runs a comparison on each storage and prints what it measured. */
export async function compare(name: keyof typeof COMPARISONS, options: BenchOptions): Promise<void> {
  const whole: Comparison = COMPARISONS[name];
  const { contenders, sizes, storages, chart, ...plan } = options.quick ? { ...whole, ...whole.quick } : whole;
  await eachStorage(options.storages ?? storages, async (storageName, storage, open) => {
    const present = contenders(storage, options).filter(isThere);
    const measurements = await measure({
      ...plan,
      workloads: options.workloads ?? plan.workloads,
      storage: open,
      runLoad: options.wrk ? runWrk : runLoad,
      contenders: present,
      sizes: sizes(storage),
    });
    console.log(measurementTable(storage.title, measurements));
    const names = present.map((contender) => contender.name);
    for (const other of names.slice(0, -1)) console.log(ratioTable(measurements, names.at(-1) as string, other));
    if (chart && !options.quick && !options.workloads && !options.wrk)
      writeChart(`${name}-${storageName}`, chart(storage.title, measurements));
  });
}

function isThere({ name, missing }: Contender): boolean {
  const reason = missing?.() ?? null;
  if (reason !== null) notMeasured(name, reason);
  return reason === null;
}

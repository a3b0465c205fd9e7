import { join } from 'node:path';
import { comparePeers } from '../compare.ts';
import { ANIMAL_STORE, GROUPS, type GroupName } from '../groups.ts';
import { type BenchOptions, chosen } from '../options.ts';
import { preparePeers } from '../peers.ts';
import type { Progress } from '../progress.ts';
import { ratioTable, workloadTable } from '../report.ts';
import { type Measurement, saveMeasurements } from '../results.ts';
import { WORKLOADS, type WorkloadName } from '../workloads.ts';

const QUICK = {
  groups: ['memory', 'mongodb'],
  workloads: ['get one', 'list 20', 'create'],
  connections: [32],
  rounds: 3,
  seconds: 1,
  pets: 1_000,
} as const;

const FULL = {
  groups: Object.keys(GROUPS) as GroupName[],
  workloads: Object.keys(WORKLOADS) as WorkloadName[],
  connections: [1, 32, 128],
  rounds: 3,
  seconds: 2,
  pets: 10_000,
} as const;

/** Compares the service with its peers, group by group. */
export async function run(options: BenchOptions, progress: Progress): Promise<void> {
  preparePeers();
  const { quick } = options;
  const plan = quick ? QUICK : FULL;
  const comparison = {
    ...plan,
    quick,
    groups: chosen<GroupName>(plan.groups, options),
    workloads: chosen<WorkloadName>(plan.workloads, options),
    connections: options.connections ?? plan.connections,
  };
  const all: Measurement[] = [];
  const file = join(options.out, quick ? 'quick.json' : 'peers.json');
  await comparePeers(comparison, progress, (measurements) => {
    all.push(...measurements);
    progress.clear();
    console.log(workloadTable(measurements));
    saveMeasurements(file, measurements);
  });
  for (const key of ['perSecond', 'p99', 'cpu'] as const) console.log(ratioTable(all, ANIMAL_STORE, key));
  console.log(`Medians of ${plan.rounds} rounds, with their spread. Results: ${file}`);
}

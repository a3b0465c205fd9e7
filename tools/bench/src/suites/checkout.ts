import { resolve } from 'node:path';
import { compareServers } from '../compare.ts';
import { type BenchOptions, chosen } from '../options.ts';
import { animalStore } from '../peers.ts';
import type { Progress } from '../progress.ts';
import { ratioTable } from '../report.ts';
import type { Measurement } from '../results.ts';
import { type Server, startServer } from '../server.ts';
import { type BenchStorage, openStorage, STORAGES } from '../storages.ts';
import { WORKLOADS, type WorkloadName } from '../workloads.ts';

/** Many short rounds: a difference of a few hundredths shall show. */
const PLAN = { rounds: 30, seconds: 0.3, pets: 10_000 };

/** Compares the service with that of another checkout, to see what a change costs or gains. */
export async function run(options: BenchOptions, progress: Progress): Promise<void> {
  const [other] = options.rest;
  if (other === undefined) throw new Error('name the folder of the other checkout, its dependencies installed');
  const commands = { other: animalStore(resolve(other)), this: animalStore() };
  const measured: Measurement[] = [];
  for (const name of chosen(STORAGES, options)) {
    const storage = await openStorage(name);
    if ('missing' in storage) progress.warn(`NOT MEASURED ${name}: ${storage.missing}`);
    else measured.push(...(await compareCommands({ title: name, commands, storage }, options, progress)));
  }
  progress.clear();
  for (const key of ['perSecond', 'cpu'] as const) console.log(ratioTable(measured, 'this', key));
}

interface Comparison {
  readonly title: string;
  /** How to start each server, by its name. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  readonly storage: BenchStorage;
}

async function compareCommands(
  { title, commands, storage }: Comparison,
  options: BenchOptions,
  progress: Progress,
): Promise<readonly Measurement[]> {
  const plan = {
    ...PLAN,
    workloads: chosen(Object.keys(WORKLOADS) as WorkloadName[], options),
    connections: options.connections ?? [32],
  };
  const servers: Server[] = [];
  const measured: Measurement[] = [];
  try {
    for (const [name, command] of Object.entries(commands)) {
      servers.push(await startServer({ name, command, environment: storage.environment() }));
    }
    await compareServers({ title, servers }, plan, progress, (added) => measured.push(...added));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await storage.close();
  }
  return measured;
}

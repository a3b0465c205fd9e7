import { fill, runLoad } from '../load.ts';
import { type BenchOptions, chosen } from '../options.ts';
import { fromAnywhere, pagesOf } from '../pages.ts';
import { animalStore } from '../peers.ts';
import type { Progress } from '../progress.ts';
import { type Server, startServer } from '../server.ts';
import { openStorage, STORAGES } from '../storages.ts';
import { newPet, type Workload } from '../workloads.ts';

const PETS = 10_000;
const PEAK_SECONDS = 6;
const PEAK_CONNECTIONS = [32, 128, 512];
const OVERLOAD_SECONDS = 30;
const OVERLOAD_CONNECTIONS = 1_000;

/**
 * Measures what the service does with twice the load that it can serve. Half of the requests create pets, half are pages
 * of 100 that begin at a hundred places, so that few of them can share a query.
 */
export async function run(options: BenchOptions, progress: Progress): Promise<void> {
  for (const name of chosen(STORAGES, options)) {
    const storage = await openStorage(name);
    if ('missing' in storage) {
      progress.warn(`NOT MEASURED ${name}: ${storage.missing}`);
      continue;
    }
    try {
      const environment = storage.environment();
      const server = await startServer({ name, command: animalStore(), environment });
      try {
        console.log(`${name}\n${await measure(server, progress)}\n`);
      } finally {
        await server.stop();
      }
    } finally {
      await storage.close();
    }
  }
}

async function measure(server: Server, progress: Progress): Promise<string> {
  progress.show(`${server.name}: ${PETS} pets`);
  await fill(server, PETS);
  const { paths } = await pagesOf(server, PETS, { paths: PETS / 100, ids: 1 });
  const page = fromAnywhere(paths);
  const workload: Workload = (random) => (random(2) === 0 ? { kind: 'create', pet: newPet(0) } : page(random, []));

  // The more requests come at once, the more of them share a query: the peak may need many connections.
  let peak = 0;
  for (const connections of PEAK_CONNECTIONS) {
    progress.show(`${server.name}: peak with ${connections} connections`);
    const sample = await runLoad(server, workload, { ids: [], connections, seconds: PEAK_SECONDS });
    peak = Math.max(peak, sample.perSecond);
  }

  progress.show(`${server.name}: twice ${peak.toFixed(0)} requests a second`);
  const memory: number[] = [];
  const watch = setInterval(() => memory.push(server.residentBytes()), 5_000);
  const { perSecond, p99, failed, unavailable } = await runLoad(server, workload, {
    ids: [],
    connections: OVERLOAD_CONNECTIONS,
    seconds: OVERLOAD_SECONDS,
    perSecond: 2 * peak,
  });
  clearInterval(watch);
  progress.clear();
  const megabytes = memory.map((bytes) => (bytes / 2 ** 20).toFixed(0));
  return [
    `  peak                  ${peak.toFixed(0)} successful responses a second`,
    `  at twice the peak     ${perSecond.toFixed(0)} (${((100 * perSecond) / peak).toFixed(0)} % of the peak)`,
    `  503                   ${unavailable}`,
    `  other failures        ${failed - unavailable}`,
    `  p99 latency           ${p99.toFixed(0)} ms`,
    `  memory every 5 s      ${megabytes.join(', ')} MB`,
  ].join('\n');
}

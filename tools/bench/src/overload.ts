import { fill, walkPages } from './catalogue.ts';
import { runLoad } from './load.ts';
import type { BenchOptions } from './options.ts';
import { animalStore } from './peers.ts';
import { show } from './progress.ts';
import type { Server } from './server.ts';
import { eachStorage } from './storages.ts';
import { FROM_ANYWHERE, WORKLOADS, type Workload } from './workloads.ts';

const PETS = 10_000;
/** In seconds. */
const TIMES = { peak: 6, overload: 30 };
const QUICK_TIMES = { peak: 2, overload: 6 };
const PEAK_CONNECTIONS = [32, 128, 512];
const OVERLOAD_CONNECTIONS = 1_000;

/** Half of the requests create pets, half are pages that begin at a hundred places: few of them can share a query. */
const WORKLOAD: Workload = (random, catalogue) =>
  WORKLOADS[random(2) === 0 ? 'create' : FROM_ANYWHERE](random, catalogue);

/** Measures the service under twice the load that it can serve. */
export async function run({ storages, quick }: BenchOptions): Promise<void> {
  await eachStorage(storages, async (_, { title }, storage) => {
    const server = await animalStore.start(storage.environment());
    try {
      console.log(`${title}\n${await measureOverload(server, quick ? QUICK_TIMES : TIMES)}\n`);
    } finally {
      await server.stop();
    }
  });
}

async function measureOverload(server: Server, times: typeof TIMES): Promise<string> {
  await fill(server, PETS);
  const catalogue = await walkPages(server, PETS);

  // The more requests come at once, the more of them share a query: the peak may need many connections.
  let peak = 0;
  for (const connections of PEAK_CONNECTIONS) {
    show(`peak with ${connections} connections`);
    const sample = await runLoad(server, WORKLOAD, { catalogue, connections, seconds: times.peak });
    peak = Math.max(peak, sample.perSecond);
  }

  show(`twice ${peak.toFixed(0)} requests a second`);
  const memory: string[] = [];
  const watch = setInterval(() => memory.push((server.residentBytes() / 2 ** 20).toFixed(0)), 5_000);
  const { perSecond, p99, failed, unavailable } = await runLoad(server, WORKLOAD, {
    catalogue,
    connections: OVERLOAD_CONNECTIONS,
    seconds: times.overload,
    perSecond: 2 * peak,
  });
  clearInterval(watch);
  show('');
  return `  peak                  ${peak.toFixed(0)} successful responses a second
  at twice the peak     ${perSecond.toFixed(0)} (${((100 * perSecond) / peak).toFixed(0)} % of the peak)
  503                   ${unavailable}
  other failures        ${failed - unavailable}
  p99 latency           ${p99.toFixed(0)} ms
  memory every 5 s      ${memory.join(', ')} MB`;
}

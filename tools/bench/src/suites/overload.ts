import autocannon from 'autocannon';
import { fill } from '../load.ts';
import { type BenchOptions, chosen } from '../options.ts';
import { pagesOf } from '../pages.ts';
import { animalStore } from '../peers.ts';
import type { Progress } from '../progress.ts';
import { type Server, startServer } from '../server.ts';
import { openStorage, STORAGES } from '../storages.ts';
import { newPet } from '../workloads.ts';

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
  const { headers, url } = server;
  let turn = 0;
  const requests: autocannon.Request[] = [
    { ...server.api({ kind: 'create', pet: newPet(0) }), headers },
    {
      method: 'GET',
      headers,
      setupRequest: (request) => ({ ...request, path: paths[turn++ % paths.length] as string }),
    },
  ];

  // The more requests come at once, the more of them share a query: the peak may need many connections.
  let peak = 0;
  for (const connections of PEAK_CONNECTIONS) {
    progress.show(`${server.name}: peak with ${connections} connections`);
    const result = await autocannon({ url, connections, duration: PEAK_SECONDS, requests });
    peak = Math.max(peak, result['2xx'] / result.duration);
  }

  progress.show(`${server.name}: twice ${peak.toFixed(0)} requests a second`);
  const memory: number[] = [];
  const watch = setInterval(() => memory.push(server.residentBytes()), 5_000);
  let otherErrors = 0;
  const overload = await autocannon({
    url,
    requests,
    connections: OVERLOAD_CONNECTIONS,
    overallRate: Math.round(2 * peak),
    duration: OVERLOAD_SECONDS,
    setupClient(client) {
      client.on('response', (status) => {
        if (status >= 400 && status !== 503) otherErrors += 1;
      });
    },
  });
  clearInterval(watch);
  progress.clear();
  const goodput = overload['2xx'] / overload.duration;
  const megabytes = memory.map((bytes) => (bytes / 2 ** 20).toFixed(0));
  return [
    `  peak                    ${peak.toFixed(0)} successful responses a second`,
    `  at twice the peak       ${goodput.toFixed(0)} (${((100 * goodput) / peak).toFixed(0)} % of the peak)`,
    `  503 with Retry-After    ${overload['5xx']}`,
    `  other error responses   ${otherErrors}`,
    `  without a response      ${overload.errors}, of which timeouts: ${overload.timeouts}`,
    `  p99 latency             ${overload.latency.p99} ms`,
    `  memory every 5 s        ${megabytes.join(', ')} MB`,
  ].join('\n');
}

import autocannon from 'autocannon';
import type { Server } from './server.ts';
import { quantile } from './statistics.ts';
import { newPet, seededRandom, type Workload } from './workloads.ts';

/** What one run of load measured. */
export interface Sample {
  /** Successful responses in a second. */
  readonly perSecond: number;
  /** Times from a request to the end of its response, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** The server's CPU time for a request, in microseconds; NaN where it can't be read. */
  readonly cpu: number;
  /** The server's CPU time for a second of the run; 1 is a core that was always busy. */
  readonly busy: number;
  /** Successful responses. */
  readonly succeeded: number;
  /** Responses that were not successful, and requests without a response. */
  readonly failed: number;
}

/** A server, or several that are one service: their connections are as many for each of them. */
export interface Target extends Pick<Server, 'name' | 'api' | 'headers' | 'cpuSeconds'> {
  readonly url: string | readonly string[];
}

export interface LoadOptions {
  /** Those of pets that the server has. */
  readonly ids: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Operations that the run chooses in advance. Each connection repeats its own share of them. */
  readonly variety?: number;
  /** Runs with the same seed choose the same operations. */
  readonly seed?: number;
}

const VARIETY = 6_400;
const LEAST_PER_CONNECTION = 50;

/**
 * Each connection sends a request, waits for its response and sends the next.
 *
 * @throws Error If no response was successful.
 */
export async function runLoad(
  server: Target,
  workload: Workload,
  { ids, connections, seconds, variety = VARIETY, seed = connections }: LoadOptions,
): Promise<Sample> {
  const random = seededRandom(seed);
  const perConnection = Math.max(LEAST_PER_CONNECTION, Math.ceil(variety / connections));
  const requests = () =>
    Array.from({ length: perConnection }, () => ({ ...server.api(workload(random, ids)), headers: server.headers }));

  const latencies: number[] = [];
  let failed = 0;
  let begin = 0;
  let end = 0;
  let cpuBefore = 0;
  const result = await autocannon({
    url: urlOf(server),
    connections,
    duration: seconds,
    sampleInt: 100,
    requests: [{ method: 'GET', path: '/' }],
    setupClient(client) {
      client.setRequests(requests());
      // The last call, after which the connections are opened, is the one that counts.
      begin = performance.now();
      cpuBefore = server.cpuSeconds();
      client.on('response', (status, _bytes, milliseconds) => {
        if (status < 300) latencies.push(milliseconds);
        else failed += 1;
        end = performance.now();
      });
    },
  });
  const cpu = server.cpuSeconds() - cpuBefore;
  const elapsed = (end - begin) / 1_000;
  if (latencies.length === 0) throw new Error(`${server.name}: no successful response, ${failed} others`);
  return {
    perSecond: latencies.length / elapsed,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpu: (cpu / (latencies.length + failed)) * 1e6,
    busy: cpu / elapsed,
    succeeded: latencies.length,
    failed: failed + result.errors,
  };
}

/** The types of autocannon don't say that it accepts several. */
const urlOf = ({ url }: Target) => url as string;

const FILL_CONNECTIONS = 64;

/**
 * Creates pets.
 *
 * @returns The ids of some of them, taken evenly: `keep` at most.
 * @throws Error If the server creates none.
 */
export async function fill(server: Target, count: number, keep = 10_000): Promise<string[]> {
  const ids: string[] = [];
  const every = Math.ceil(count / keep);
  // A server that sheds load creates fewer than it is asked for.
  for (let created = 0; created < count; ) {
    const before = created;
    await create(server, count - created, (id) => {
      if (created % every === 0) ids.push(id);
      created += 1;
    });
    if (created === before) throw new Error(`${server.name} creates no pets`);
  }
  return ids;
}

async function create(server: Target, count: number, onCreated: (id: string) => void): Promise<void> {
  let next = 0;
  await autocannon({
    url: urlOf(server),
    connections: Math.min(FILL_CONNECTIONS, count),
    amount: count,
    sampleInt: 100,
    timeout: 60,
    requests: [{ method: 'GET', path: '/' }],
    setupClient(client) {
      const pets = Array.from({ length: LEAST_PER_CONNECTION }, () => newPet(next++));
      client.setRequests(pets.map((pet) => ({ ...server.api({ kind: 'create', pet }), headers: server.headers })));
    },
    verifyBody(body) {
      const id = /"id":\s*"?(\w+)/.exec(String(body))?.[1];
      if (id !== undefined) onCreated(id);
      return id !== undefined;
    },
  });
}

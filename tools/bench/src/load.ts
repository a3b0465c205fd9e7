import { bytesOf, sendRequests } from './client.ts';
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
  /** Those of them that are 503, after which a client may try again. */
  readonly unavailable: number;
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
  /** Requests that are sent in a second, if responses come fast enough. Absent: as many as possible. */
  readonly perSecond?: number;
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
  { ids, connections, seconds, perSecond, variety = VARIETY, seed = connections }: LoadOptions,
): Promise<Sample> {
  const random = seededRandom(seed);
  const perConnection = Math.max(LEAST_PER_CONNECTION, Math.ceil(variety / connections));
  const chosen = Array.from({ length: connections }, () =>
    Array.from({ length: perConnection }, () => bytesOf(server.api(workload(random, ids)), server.headers)),
  );
  const latencies: number[] = [];
  let failed = 0;
  let unavailable = 0;
  const begin = performance.now();
  let end = begin;
  const cpuBefore = server.cpuSeconds();
  const lost = await sendRequests({
    urls: urlsOf(server),
    connections,
    until: begin + seconds * 1_000,
    ...(perSecond && { interval: (connections / perSecond) * 1_000 }),
    requests: (connection) => repeated(chosen[connection] as readonly Buffer[]),
    onResponse(status, milliseconds) {
      if (status < 300) latencies.push(milliseconds);
      else failed += 1;
      if (status === 503) unavailable += 1;
      end = performance.now();
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
    failed: failed + lost,
    unavailable,
  };
}

const urlsOf = ({ url }: Target): readonly string[] => (typeof url === 'string' ? [url] : url);

/** Requests that follow one another again and again. */
function repeated(requests: readonly Buffer[]): () => Buffer {
  let sent = 0;
  return () => requests[sent++ % requests.length] as Buffer;
}

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
  const pets = Array.from({ length: 4 * LEAST_PER_CONNECTION }, (_, number) => newPet(number));
  const requests = repeated(pets.map((pet) => bytesOf(server.api({ kind: 'create', pet }), server.headers)));
  let sent = 0;
  await sendRequests({
    urls: urlsOf(server),
    connections: Math.min(FILL_CONNECTIONS, count),
    requests: () => () => (sent++ < count ? requests() : null),
    onResponse(_status, _milliseconds, body) {
      const id = /"id":\s*"?(\w+)/.exec(body())?.[1];
      if (id !== undefined) onCreated(id);
    },
  });
}

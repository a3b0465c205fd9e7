import { bytesOf, sendRequests } from './client.ts';
import type { Server } from './server.ts';
import { quantile } from './statistics.ts';
import { type Catalogue, seededRandom, type Workload } from './workloads.ts';

/** The measurements of one run of load. */
export interface Sample {
  /** Successful responses in a second. */
  readonly perSecond: number;
  /** Times from a request to the end of its response, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** The server's CPU time for a request, in microseconds; NaN if it can't be read. */
  readonly cpu: number;
  readonly succeeded: number;
  /** Responses that were not successful, and requests without a response. */
  readonly failed: number;
  /** The failed responses with 503, after which a client may try again; NaN if they are not counted. */
  readonly unavailable: number;
}

export interface LoadOptions {
  readonly catalogue: Catalogue;
  readonly connections: number;
  readonly seconds: number;
  /** Requests that are sent in a second, if responses come fast enough. Absent: as many as possible. */
  readonly perSecond?: number;
  /** Runs with the same seed choose the same operations. */
  readonly seed?: number;
}

/** Operations that a run chooses in advance: about as many as a second needs, so that caches don't make them cheap. */
const VARIETY = 20_000;

/** The requests that a run sends, again and again. */
export function requestsOf(
  { api, headers }: Server,
  workload: Workload,
  { catalogue, connections, seed = connections }: LoadOptions,
): Buffer[] {
  const random = seededRandom(seed);
  return Array.from({ length: VARIETY }, () => bytesOf(api(workload(random, catalogue)), headers));
}

/**
 * Each connection sends a request, waits for its response and sends the next.
 *
 * @throws Error If no response was successful.
 */
export type RunLoad = (server: Server, workload: Workload, options: LoadOptions) => Promise<Sample>;

/** Puts load on a server from this process. */
export const runLoad: RunLoad = async (server, workload, options) => {
  const { name, url, cpuSeconds } = server;
  const { connections, seconds, perSecond } = options;
  const requests = requestsOf(server, workload, options);
  const latencies: number[] = [];
  let sent = 0;
  let failed = 0;
  let unavailable = 0;
  const begin = performance.now();
  let end = begin;
  const cpuBefore = cpuSeconds();
  const lost = await sendRequests({
    url,
    connections,
    until: begin + seconds * 1_000,
    ...(perSecond && { interval: (connections / perSecond) * 1_000 }),
    next: () => requests[sent++ % VARIETY] as Buffer,
    onResponse(status, milliseconds) {
      if (status < 300) latencies.push(milliseconds);
      else failed += 1;
      if (status === 503) unavailable += 1;
      end = performance.now();
    },
  });
  const cpu = cpuSeconds() - cpuBefore;
  if (latencies.length === 0) throw new Error(`${name}: no successful response, ${failed} others`);
  return {
    perSecond: (latencies.length / (end - begin)) * 1_000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpu: (cpu / (latencies.length + failed)) * 1e6,
    succeeded: latencies.length,
    failed: failed + lost,
    unavailable,
  };
};

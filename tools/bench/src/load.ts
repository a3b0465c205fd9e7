import { bytesOf, sendRequests } from './client.ts';
import type { Server } from './server.ts';
import { quantile } from './statistics.ts';
import type { Workload } from './workloads.ts';

/** The measurements of one run of load. */
export interface Sample {
  /** Successful responses in a second. */
  readonly perSecond: number;
  /** The time from a request to the end of its response, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** The server's CPU time for a request, in microseconds; NaN if it can't be read. */
  readonly cpu: number;
  /** The commands that a database server ran for a request; NaN if that is not known. */
  readonly commands: number;
  readonly succeeded: number;
  /** Responses that were not successful, and requests without a response. */
  readonly failed: number;
}

export interface Load {
  readonly ids: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** How many commands a database server has run since its start; absent if that is not known. */
  readonly commands?: (() => Promise<number>) | undefined;
}

/** Operations that a run chooses in advance: about as many as a second needs, so that caches don't make them cheap. */
const VARIETY = 20_000;

/**
 * Puts load on a server: each connection sends a request, waits for its response and sends the next.
 *
 * @throws Error If no response was successful.
 */
export async function runLoad(
  { name, url, api, headers, cpuSeconds }: Server,
  workload: Workload,
  { ids, connections, seconds, commands = async () => Number.NaN }: Load,
): Promise<Sample> {
  const requests = Array.from({ length: VARIETY }, (_, number) => bytesOf(api(workload(number, ids)), headers));
  const latencies: number[] = [];
  const commandsBefore = await commands();
  let sent = 0;
  let failed = 0;
  const begin = performance.now();
  const until = begin + seconds * 1_000;
  let end = begin;
  const cpuBefore = cpuSeconds();
  const lost = await sendRequests({
    url,
    connections,
    next: () => (performance.now() < until ? (requests[sent++ % VARIETY] as Buffer) : null),
    onResponse(status, milliseconds) {
      if (status < 300) latencies.push(milliseconds);
      else failed += 1;
      end = performance.now();
    },
  });
  const cpu = cpuSeconds() - cpuBefore;
  const responses = latencies.length + failed;
  if (latencies.length === 0) throw new Error(`${name}: no successful response, ${failed} others`);
  return {
    perSecond: (latencies.length / (end - begin)) * 1_000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    longest: quantile(latencies, 1),
    cpu: (cpu / responses) * 1e6,
    commands: ((await commands()) - commandsBefore) / responses,
    succeeded: latencies.length,
    failed: failed + lost,
  };
}

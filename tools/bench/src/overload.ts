// What the service does under twice the load that it can carry: first the peak is measured, then as many connections as
// keep twice that rate busy are thrown at it for half a minute. Prints what was answered, and the memory at the end of each.
// Runs on what STORAGE and MONGODB_URL name; load goes to the loopback interface only.

import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { KEY } from './peers/catalogue.ts';
import { startServer } from './server-process.ts';

const PEAK_SECONDS = 8;
const OVERLOAD_SECONDS = 30;
const PEAK_CONNECTIONS = 32;
const OVERLOAD_CONNECTIONS = 1_000;

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
const body = '{"name":"Rex","categoryId":7,"status":"available"}';
const requests: autocannon.Request[] = [
  { method: 'POST', path: '/v1/pets', headers, body },
  { method: 'GET', path: '/v1/pets?limit=100', headers },
];

/** Resident memory in MB (proc(5), VmRSS). */
function memoryOf(pid: number | undefined): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

const server = await startServer('Animal Store', '../../../apps/http/src/main.ts');
try {
  const peak = await autocannon({ url: server.url, connections: PEAK_CONNECTIONS, duration: PEAK_SECONDS, requests });
  const peakRate = peak['2xx'] / PEAK_SECONDS;
  console.log(
    `peak: ${peakRate.toFixed(0)} answers a second, p99 ${peak.latency.p99} ms, ${memoryOf(server.process.pid)} MB`,
  );

  const unanswered: string[] = [];
  const overload = await autocannon({
    url: server.url,
    connections: OVERLOAD_CONNECTIONS,
    overallRate: Math.round(2 * peakRate),
    duration: OVERLOAD_SECONDS,
    requests,
    setupClient(client) {
      client.on('response', (status) => {
        if (status >= 400 && status !== 503) unanswered.push(String(status));
      });
    },
  });
  const goodput = overload['2xx'] / OVERLOAD_SECONDS;
  console.log(
    `overload: ${(overload.requests.total / OVERLOAD_SECONDS).toFixed(0)} requests a second answered of ${(2 * peakRate).toFixed(0)}; ` +
      `goodput ${goodput.toFixed(0)} (${((100 * goodput) / peakRate).toFixed(0)} % of the peak), ` +
      `503: ${overload['5xx']}, other refusals: ${unanswered.length}, errors: ${overload.errors}, timeouts: ${overload.timeouts}, ` +
      `p99 ${overload.latency.p99} ms, ${memoryOf(server.process.pid)} MB`,
  );
} finally {
  server.process.removeAllListeners('exit');
  server.process.kill();
}

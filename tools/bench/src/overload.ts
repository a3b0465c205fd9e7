// What the service does under twice the load that it can carry: first the peak is measured, with as many connections as
// bring it about (what is done for many at once has its peak with many), then twice that rate comes in on a thousand for half
// a minute. Half of the requests are additions, half pages of 100 that begin at a hundred places, so that few can be read
// together. Prints what was answered, and the memory meanwhile.
// Runs on what STORAGE and MONGODB_URL name; load goes to the loopback interface only.

import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { KEY } from './peers/catalogue.ts';
import { fill } from './scenarios.ts';
import { type Server, startServer } from './server-process.ts';

const PEAK_SECONDS = 6;
const OVERLOAD_SECONDS = 30;
const PEAK_CONNECTIONS = [32, 128, 512];
const OVERLOAD_CONNECTIONS = 1_000;

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
const body = '{"name":"Rex","categoryId":7,"status":"available"}';

/** The paths of all pages of 100, one after the other. */
async function pagesOf({ url }: Server): Promise<string[]> {
  const paths: string[] = [];
  for (let next: string | undefined = '/v1/pets?limit=100'; next !== undefined; ) {
    paths.push(next);
    const answer: Response = await fetch(url + next, { headers });
    await answer.text();
    next = /<(.+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return paths;
}

/** Resident memory in MB (proc(5), VmRSS). */
function memoryOf(pid: number | undefined): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

const server = await startServer('Animal Store', '../../../apps/http/src/main.ts');
try {
  await fill(server);
  const pages = await pagesOf(server);
  let turn = 0;
  const page = () => pages[turn++ % pages.length] as string;
  const requests: autocannon.Request[] = [
    { method: 'POST', path: '/v1/pets', headers, body },
    { method: 'GET', headers, setupRequest: (request) => ({ ...request, path: page() }) },
  ];
  let peakRate = 0;
  for (const connections of PEAK_CONNECTIONS) {
    const peak = await autocannon({ url: server.url, connections, duration: PEAK_SECONDS, requests });
    const rate = peak['2xx'] / PEAK_SECONDS;
    peakRate = Math.max(peakRate, rate);
    console.log(
      `${connections} connections: ${rate.toFixed(0)} good answers a second, p99 ${peak.latency.p99} ms, ` +
        `503: ${peak['5xx']}, ${memoryOf(server.process.pid)} MB`,
    );
  }

  const memory: number[] = [];
  const watch = setInterval(() => memory.push(memoryOf(server.process.pid)), 5_000);
  const otherRefusals: string[] = [];
  const overload = await autocannon({
    url: server.url,
    connections: OVERLOAD_CONNECTIONS,
    overallRate: Math.round(2 * peakRate),
    duration: OVERLOAD_SECONDS,
    requests,
    setupClient(client) {
      client.on('response', (status) => {
        if (status >= 400 && status !== 503) otherRefusals.push(String(status));
      });
    },
  });
  clearInterval(watch);
  const goodput = overload['2xx'] / OVERLOAD_SECONDS;
  console.log(
    `overload: ${(overload.requests.total / OVERLOAD_SECONDS).toFixed(0)} requests a second answered of ${(2 * peakRate).toFixed(0)}; ` +
      `goodput ${goodput.toFixed(0)} (${((100 * goodput) / peakRate).toFixed(0)} % of the peak), ` +
      `503: ${overload['5xx']}, other refusals: ${otherRefusals.length}, errors: ${overload.errors}, timeouts: ${overload.timeouts}, ` +
      `p99 ${overload.latency.p99} ms, ${memory.join(', ')} MB every 5 s`,
  );
} finally {
  server.process.removeAllListeners('exit');
  server.process.kill();
}

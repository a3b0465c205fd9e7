import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fill } from './catalogue.ts';
import { bytesOf } from './client.ts';
import { runLoad } from './load.ts';
import { animalStore } from './peers.ts';
import type { Server } from './server.ts';
import { markdown } from './tables.ts';
import { WORKLOADS } from './workloads.ts';

const CONNECTIONS = 1_000;

/** The time between two bursts of the load, in milliseconds. */
const TICK = 5;

/** How much more is offered than the service can serve. */
const FACTOR = 2;

/** Offers a service twice the requests that it can serve, and measures what these clients and an honest one get. */
export async function measureOverload(seconds: number): Promise<void> {
  const server = await animalStore.start({ STORAGE: 'memory' });
  try {
    const load = { ids: await fill(server, 1_000), connections: 32, seconds: 2 };
    await runLoad(server, WORKLOADS['get one'], load);
    const { perSecond: peak } = await runLoad(server, WORKLOADS['get one'], load);
    const [honest, offered] = await Promise.all([
      runLoad(server, WORKLOADS['list 20'], { ...load, connections: 1, seconds }),
      offer(server, peak * FACTOR, seconds),
    ]);
    const perSecond = (count: number) => (count / offered.seconds).toFixed(0);
    const share = `${((100 * offered.succeeded) / offered.seconds / peak).toFixed(0)} %`;
    console.log(
      markdown([
        ['', 'a second'],
        ['capacity', peak.toFixed(0)],
        ['offered', perSecond(offered.offered)],
        ['200', `${perSecond(offered.succeeded)} (${share})`],
        ['503', perSecond(offered.rejected)],
      ]),
    );
    const { succeeded, failed, p50, longest } = honest;
    const times = `median ${p50.toFixed(0)} ms, at most ${longest.toFixed(0)} ms`;
    console.log(`an honest client: ${succeeded} times 200, ${failed} times not; ${times}`);
  } finally {
    await server.stop();
  }
}

/**
 * Sends requests at a rate, whether responses come or not (an open loop). A connection has one request at a time; a request
 * for which none is free is not sent.
 */
async function offer({ url, api, headers }: Server, perSecond: number, seconds: number) {
  const request = bytesOf(api({ kind: 'get', id: '7' }), headers);
  const counts = { offered: 0, succeeded: 0, rejected: 0 };
  const free: Socket[] = [];
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setNoDelay(true);
    socket.on('connect', () => free.push(socket));
    socket.on('data', (response) => {
      if (response.toString('latin1', 9, 12) === '200') counts.succeeded += 1;
      else counts.rejected += 1;
      free.push(socket);
    });
    return socket.on('error', () => {});
  });
  const begin = performance.now();
  while (performance.now() - begin < seconds * 1_000) {
    const due = ((performance.now() - begin) / 1_000) * perSecond;
    for (; counts.offered < due; counts.offered += 1) {
      free.shift()?.write(request);
    }
    await pause(TICK);
  }
  const elapsed = (performance.now() - begin) / 1_000;
  for (const socket of sockets) socket.destroy();
  return { ...counts, seconds: elapsed };
}

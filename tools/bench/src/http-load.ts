// The service against its peers, all on plain memory, each in a process of its own: microseconds of the server's CPU a
// request (which noise disturbs less than requests a second), medians of interleaved rounds, and the ratio to Fastify.
// Load goes to the loopback interface only, from this process, on another core where there is one.

import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { fill, median, scenarios } from './scenarios.ts';
import { type Server, startServer } from './server-process.ts';

const CONNECTIONS = 32;
const ROUNDS = 3;
const SECONDS = 3;
/** Clock ticks of /proc a second: 100 on every Linux there is. */
const TICKS = 100;

/** Seconds of CPU that a process has used, in user and kernel mode (proc(5), fields 14 and 15 of stat). */
function cpuSeconds({ process: { pid } }: Server): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

async function load(server: Server, request: autocannon.Request): Promise<number> {
  const before = cpuSeconds(server);
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: [request],
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${server.name}: ${result.non2xx} refused, ${result.errors} failed`);
  return ((cpuSeconds(server) - before) / result.requests.total) * 1e6;
}

const servers = [
  await startServer('node:http, prepared', './peers/node-http.ts'),
  await startServer('Fastify', './peers/fastify.ts'),
  await startServer('Fastify, equipped', './peers/fastify.ts', { EQUIPPED: 'yes' }),
  await startServer('Express', './peers/express.ts'),
  await startServer('Animal Store', '../../../apps/http/src/main.ts'),
];
try {
  const ids = new Map<Server, number[]>();
  for (const server of servers) ids.set(server, await fill(server));
  console.log(`µs of CPU a request (ratio to Fastify) ${servers.map(({ name }) => name.padStart(22)).join('')}`);
  for (const [scenario, request] of Object.entries(scenarios)) {
    const times = new Map<string, number[]>(servers.map(({ name }) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const server of servers) times.get(server.name)?.push(await load(server, request(ids.get(server) ?? [])));
    }
    const fastify = median(times.get('Fastify') ?? []);
    const cells = servers.map(({ name }) => {
      const time = median(times.get(name) ?? []);
      return `${time.toFixed(1)} (${(time / fastify).toFixed(2)})`.padStart(22);
    });
    console.log(scenario.padEnd(39) + cells.join(''));
  }
} finally {
  for (const server of servers) {
    server.process.removeAllListeners('exit');
    server.process.kill();
  }
}

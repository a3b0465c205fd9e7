// The service against its peers, all on plain memory, each in a process of its own: microseconds of the server's CPU a
// request (which noise disturbs less than requests a second), medians of interleaved rounds, and the ratio to Fastify.
// Load goes to the loopback interface only, from this process, on another core where there is one.

import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { KEY } from './peers/catalogue.ts';
import { type Server, startServer } from './server-process.ts';

const ANIMALS = 10_000;
const CONNECTIONS = 32;
const ROUNDS = 3;
const SECONDS = 3;
/** Clock ticks of /proc a second: 100 on every Linux there is. */
const TICKS = 100;

const authorization = { authorization: `Bearer ${KEY}` };
const json = { ...authorization, 'content-type': 'application/json' };
const rex = '{"name":"Rex","categoryId":7,"status":"available"}';
const scenarios: Record<string, autocannon.Request> = {
  'get one': { method: 'GET', path: '/v1/pets/4321', headers: authorization },
  'list 20': { method: 'GET', path: '/v1/pets', headers: authorization },
  'list 100': { method: 'GET', path: '/v1/pets?limit=100', headers: authorization },
  'list 20 by status': { method: 'GET', path: '/v1/pets?status=sold', headers: authorization },
  add: { method: 'POST', path: '/v1/pets', headers: json, body: rex },
};

async function fill({ url }: Server): Promise<void> {
  const status = ['available', 'pending', 'sold', undefined];
  for (let id = 0; id < ANIMALS; id += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const body = JSON.stringify({ name: `Rex ${id + index}`, categoryId: 7, status: status[index % 4] });
        const answer = await fetch(`${url}/v1/pets`, { method: 'POST', headers: json, body });
        await answer.text();
      }),
    );
  }
}

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

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

const servers = [
  await startServer('node:http, prepared', './peers/node-http.ts'),
  await startServer('Fastify', './peers/fastify.ts'),
  await startServer('Fastify, equipped', './peers/fastify.ts', { EQUIPPED: 'yes' }),
  await startServer('Express', './peers/express.ts'),
  await startServer('Animal Store', '../../../apps/http/src/main.ts'),
];
try {
  for (const server of servers) await fill(server);
  console.log(`µs of CPU a request (ratio to Fastify) ${servers.map(({ name }) => name.padStart(22)).join('')}`);
  for (const [scenario, request] of Object.entries(scenarios)) {
    const times = new Map<string, number[]>(servers.map(({ name }) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const server of servers) times.get(server.name)?.push(await load(server, request));
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

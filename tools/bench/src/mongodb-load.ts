// The service on MongoDB against a peer on the same server: good answers a second, medians of interleaved rounds, and the
// ratio to the peer. MONGODB_URL names a database; each server works on one of its own beside that, which is dropped at the
// end. Load goes to the loopback interface only.

import autocannon from 'autocannon';
import { MongoClient } from 'mongodb';
import { fill, median, scenarios } from './scenarios.ts';
import { type Server, startServer } from './server-process.ts';

const CONNECTIONS = 32;
const ROUNDS = 3;
const SECONDS = 3;

const url = process.env['MONGODB_URL'];
if (url === undefined) throw new Error('MONGODB_URL must be set, as in mongodb://localhost:27017/bench');
const client = new MongoClient(url);
const base = client.db().databaseName;

const peers = [
  ['Fastify + driver', './peers/fastify-mongodb.ts'],
  ['Animal Store', '../../../apps/http/src/main.ts'],
] as const;

async function load({ name, url }: Server, request: autocannon.Request): Promise<number> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS, requests: [request] });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${name}: ${result.non2xx} refused, ${result.errors} failed`);
  return result['2xx'] / result.duration;
}

const servers: Server[] = [];
const ids = new Map<Server, number[]>();
const databases = peers.map((_, index) => `${base}_${index}`);
try {
  for (const [index, [name, file]] of peers.entries()) {
    const own = new URL(url);
    own.pathname = `/${databases[index]}`;
    const server = await startServer(name, file, { STORAGE: 'mongodb', MONGODB_URL: own.href });
    servers.push(server);
    ids.set(server, await fill(server));
  }
  console.log(`answers a second (ratio to the first) ${servers.map(({ name }) => name.padStart(22)).join('')}`);
  for (const [scenario, request] of Object.entries(scenarios)) {
    const rates = new Map<string, number[]>(servers.map(({ name }) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const server of servers) rates.get(server.name)?.push(await load(server, request(ids.get(server) ?? [])));
    }
    const [first = Number.NaN, ...others] = servers.map(({ name }) => median(rates.get(name) ?? []));
    const cells = [first, ...others].map((rate) => `${rate.toFixed(0)} (${(rate / first).toFixed(1)})`.padStart(22));
    console.log(scenario.padEnd(38) + cells.join(''));
  }
} finally {
  for (const server of servers) {
    server.process.removeAllListeners('exit');
    server.process.kill();
  }
  for (const database of databases) await client.db(database).dropDatabase();
  await client.close();
}

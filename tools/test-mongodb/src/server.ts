import { MongoClient } from 'mongodb';
import { Wait } from 'testcontainers';
import {
  hasHostNetwork,
  mongoContainer,
  processOf,
  removeStaleContainers,
  SMALL,
  whyNoContainers,
} from './containers.ts';
import { databaseOf } from './database-url.ts';
import { initiate } from './initiate.ts';

/** What the tests of a run are given; plain data, because it crosses from one process to another. */
export type MongoForTests =
  | {
      /** Leads to the server. */
      readonly url: string;
      /** What the names of this run's databases begin with. They end in `_test`. */
      readonly prefix: string;
      /** Whether tests can start containers of their own. */
      readonly containers: boolean;
      /** Whether these can use the network of this machine. */
      readonly hostNetwork: boolean;
    }
  | { readonly missing: string };

export interface RunningServer {
  readonly provided: MongoForTests;
  /** The id of its process on this machine; absent if it is not known. */
  readonly pid?: number;
  stop(): Promise<void>;
}

const PORT = 27017;
const AN_HOUR = 60 * 60 * 1_000;

/** The server that the environment asks for: one of one's own, else a container, else none. */
export async function startServer(): Promise<RunningServer> {
  const url = process.env['TEST_MONGODB_URL'];
  if (url) return ownServer(url);
  const missing = await whyNoContainers();
  if (missing !== null) return { provided: { missing }, stop: async () => {} };
  await removeStaleContainers();
  return containerServer();
}

async function containerServer(): Promise<RunningServer> {
  const container = await mongoContainer()
    .withCommand(['--replSet', 'rs0', ...SMALL])
    .withExposedPorts(PORT)
    .withWaitStrategy(Wait.forLogMessage(/Waiting for connections/))
    .start();
  const stop = async () => {
    await container.stop({ timeout: 0 });
  };
  try {
    const url = `mongodb://${container.getHost()}:${container.getMappedPort(PORT)}/?directConnection=true`;
    await initiate(url, [{ host: `localhost:${PORT}` }]);
    const hostNetwork = await hasHostNetwork();
    return {
      provided: { url, prefix: runPrefix('animals'), containers: true, hostNetwork },
      ...(hostNetwork && { pid: await processOf(container.getId()) }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A server that someone else looks after: its databases are made, and dropped, beside the one that the URL names. */
async function ownServer(url: string): Promise<RunningServer> {
  const name = databaseOf(url);
  if (!name.endsWith('_test')) {
    throw new Error(
      `TEST_MONGODB_URL must name a database that ends in _test, not "${name}": the tests drop databases`,
    );
  }
  const base = name.slice(0, -'_test'.length);
  const prefix = runPrefix(base);
  // What a crashed run left behind is dropped once no run can be using it any more.
  await dropDatabases(url, (other) => other.startsWith(prefix) || isStale(other, base));
  return {
    provided: { url, prefix, containers: false, hostNetwork: false },
    stop: () => dropDatabases(url, (other) => other.startsWith(prefix)),
  };
}

function runPrefix(base: string): string {
  return `${base}_${Date.now().toString(36)}_`;
}

function isStale(name: string, base: string): boolean {
  if (!name.startsWith(`${base}_`)) return false;
  const [, started = ''] = /^([0-9a-z]{8})_[0-9a-f]+_test$/.exec(name.slice(base.length + 1)) ?? [];
  return started !== '' && Date.now() - Number.parseInt(started, 36) > AN_HOUR;
}

async function dropDatabases(url: string, unwanted: (name: string) => boolean): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 10_000 });
  try {
    const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (unwanted(name)) await client.db(name).dropDatabase();
  } catch (error) {
    // Vitest fails over the driver's own errors.
    throw new Error(`the server of TEST_MONGODB_URL does not serve: ${(error as Error).message}`);
  } finally {
    await client.close();
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import { hasHostNetwork, testContainer, whyNoContainers } from '@animal-store/test-kit/containers';
import type { Missing, StartedServer } from '@animal-store/test-kit/shared-server';
import { MongoClient } from 'mongodb';
import { type GenericContainer, Wait } from 'testcontainers';

/** The image of the server. */
const IMAGE = process.env['MONGODB_IMAGE'] ?? 'mongo:8.0';

/** Options that make mongod a small server. */
export const SMALL = ['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '128'];

const PORT = 27017;

/** A container of the server's image. Its data is in memory. */
export const mongoContainer = (): GenericContainer => testContainer(IMAGE).withTmpFs({ '/data/db': 'rw' });

/** The name of the database in a URL of one host or more. */
const NAME = /(?<=^mongodb:\/\/[^/]+\/)[^?]*/;

export const databaseOf = (url: string): string => NAME.exec(url)?.[0] ?? '';

/** The same URL with another database. */
export const withDatabase = (url: string, name: string): string => url.replace(NAME, name);

/** A member as the configuration of the replica set has it. */
export interface ConfiguredMember {
  /** `host:port`, by which members and clients reach it. */
  readonly host: string;
  /** 0: it votes and is never elected. */
  readonly priority?: number;
}

/**
 * Makes a replica set of running servers and waits for its primary.
 *
 * @param url Leads to the first of the members directly.
 */
export async function initiate(
  url: string,
  members: readonly ConfiguredMember[],
  settings: object = {},
): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 120_000 });
  const admin = client.db('admin');
  try {
    const configured = members.map((member, _id) => ({ _id, ...member }));
    await admin.command({ replSetInitiate: { _id: 'rs0', members: configured, settings } });
    for (const until = Date.now() + 300_000; Date.now() < until; await pause(50)) {
      if ((await admin.command({ hello: 1 }))['primary'] !== undefined) return;
    }
    throw new Error('the replica set elected no primary within 300 seconds');
  } finally {
    await client.close();
  }
}

/** A server in a container of its own that belongs to no replica set. */
export interface LoneServer {
  /** The URL of a database on it, with these options. */
  url(database: string, query?: string): string;
  /** Makes it the only member of a set, if it was started as a member. */
  initiate(): Promise<void>;
  stop(): Promise<void>;
}

/** @param kind A standalone, or a member of `rs0` whose set is not initiated yet. */
export async function startLoneServer(kind: 'standalone' | 'uninitiated'): Promise<LoneServer> {
  const container = await mongoContainer()
    .withCommand([...(kind === 'standalone' ? [] : ['--replSet', 'rs0']), ...SMALL])
    .withExposedPorts(PORT)
    .withWaitStrategy(Wait.forLogMessage(/Waiting for connections/))
    .start();
  const server = `mongodb://${container.getHost()}:${container.getMappedPort(PORT)}`;
  return {
    url: (database, query = '') => `${server}/${database}?${query}`,
    initiate: () => initiate(`${server}/?directConnection=true`, [{ host: `localhost:${PORT}` }]),
    async stop() {
      await container.stop({ timeout: 0 });
    },
  };
}

/** The data for the tests of a run. */
export interface MongoForTests {
  /** Leads to the server. */
  readonly url: string;
  /** Whether containers can use the network of this machine. */
  readonly hostNetwork: boolean;
}

/** A replica set of one in a container. */
export async function startServer(): Promise<StartedServer<MongoForTests> | Missing> {
  const missing = await whyNoContainers(IMAGE);
  if (missing !== null) return { missing };
  const server = await startLoneServer('uninitiated');
  const { stop } = server;
  try {
    await server.initiate();
    const hostNetwork = await hasHostNetwork();
    const provided = { url: server.url('', 'directConnection=true'), hostNetwork };
    if (hostNetwork) return { provided, stop };
    return {
      provided,
      notRun: {
        tests: 'the suites that partition a replica set',
        because: "containers of Docker Desktop don't share the network of this machine",
        remedy: 'To run them, use an engine on Linux.',
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

import { Wait } from 'testcontainers';
import { mongoContainer, SMALL } from './containers.ts';
import { initiate } from './initiate.ts';

/** A server in a container of its own that belongs to no replica set. */
export interface LoneServer {
  /** The URL of a database on it, with these options. */
  url(database: string, query?: string): string;
  /** Makes it the only member of a set, if it was started as a member. */
  initiate(): Promise<void>;
  stop(): Promise<void>;
}

const PORT = 27017;

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

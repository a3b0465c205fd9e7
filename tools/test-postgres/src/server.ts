import { testContainer } from '@animal-store/test-mongodb/containers';
import pg from 'pg';
import { type StartedTestContainer, Wait } from 'testcontainers';

/** The image of the server. */
export const IMAGE: string = process.env['POSTGRES_IMAGE'] ?? 'postgres:17';

/** Of the superuser. */
const PASSWORD = 'the-password-of-the-tests';

const PORT = 5432;

/** A server in a container of its own. */
export interface Server {
  /** Leads to its database `animals`, as superuser. */
  readonly url: string;
  readonly container: StartedTestContainer;
  stop(): Promise<void>;
}

/** @param kind Durable: its data is on a disk, and outlives the container's process. */
export async function startServer(kind: 'fast' | 'durable' = 'fast', port?: number): Promise<Server> {
  const fast = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];
  const described = testContainer(IMAGE)
    .withEnvironment({ POSTGRES_PASSWORD: PASSWORD, POSTGRES_DB: 'animals', PGDATA: '/data' })
    .withCommand(['postgres', '-c', 'max_connections=500', ...(kind === 'fast' ? fast : [])])
    .withExposedPorts(port === undefined ? PORT : { container: PORT, host: port })
    // Not that of the server which the public image starts to create the database.
    .withWaitStrategy(Wait.forLogMessage(/listening on IPv4 address "0\.0\.0\.0"/));
  const container = await (kind === 'fast' ? described.withTmpFs({ '/data': 'rw' }) : described).start();
  const url = `postgres://postgres:${PASSWORD}@${container.getHost()}:${container.getMappedPort(PORT)}/animals`;
  await untilReady(url);
  return {
    url,
    container,
    async stop() {
      await container.stop({ timeout: 0 });
    },
  };
}

/** The server accepts connections a moment after it listens. */
export async function untilReady(url: string): Promise<void> {
  for (const end = Date.now() + 30_000; ; await new Promise((resume) => setTimeout(resume, 50))) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

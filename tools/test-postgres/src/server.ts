import { testContainer } from '@animal-store/test-kit/containers';
import { freePorts } from '@animal-store/test-kit/free-ports';
import pg from 'pg';
import { getContainerRuntimeClient, Wait } from 'testcontainers';

/** The image of the server. */
export const IMAGE: string = process.env['POSTGRES_IMAGE'] ?? 'postgres:17';

/** The password of the superuser. */
const PASSWORD = 'the-password-of-the-tests';

const PORT = 5432;

/** A server in a container of its own. */
export interface Server {
  /** Leads to its database `animals`, as superuser. */
  readonly url: string;
  /** Ends the server like a crash. */
  kill(): Promise<void>;
  /** Starts it again, and returns when it accepts connections. */
  start(): Promise<void>;
  /** It keeps its connections and responds to nothing. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Runs SQL as superuser. */
  run(text: string): Promise<void>;
  /** Ends all sessions of clients. */
  endSessions(): Promise<void>;
  /** The end of its log. */
  diagnose(): Promise<string>;
  stop(): Promise<void>;
}

/** @param kind Durable: its data is on a disk, and outlives its process. */
export async function startServer(kind: 'fast' | 'durable' = 'fast'): Promise<Server> {
  const fast = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];
  const [port] = (await freePorts(1)) as [number];
  const described = testContainer(IMAGE)
    .withEnvironment({ POSTGRES_PASSWORD: PASSWORD, POSTGRES_DB: 'animals', PGDATA: '/data' })
    .withCommand(['postgres', '-c', 'max_connections=500', ...(kind === 'fast' ? fast : [])])
    // The same one after a restart.
    .withExposedPorts({ container: PORT, host: port })
    // The public image first starts another server, which creates the database.
    .withWaitStrategy(Wait.forLogMessage(/listening on IPv4 address "0\.0\.0\.0"/));
  const started = await (kind === 'fast' ? described.withTmpFs({ '/data': 'rw' }) : described).start();
  const engine = await getContainerRuntimeClient();
  const container = engine.container.getById(started.getId());
  const url = `postgres://postgres:${PASSWORD}@${started.getHost()}:${port}/animals`;
  await untilReady(url);
  return {
    url,
    kill: () => container.kill(),
    async start() {
      await container.start();
      await untilReady(url);
    },
    pause: () => container.pause(),
    resume: () => container.unpause(),
    run: (text) => run(url, text),
    async endSessions() {
      const others = "pid <> pg_backend_pid() AND backend_type = 'client backend'";
      await run(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
    },
    diagnose: async () => String(await container.logs({ stdout: true, stderr: true, tail: 20 })),
    async stop() {
      await started.stop({ timeout: 0 });
    },
  };
}

/** The server accepts connections shortly after it listens. */
async function untilReady(url: string): Promise<void> {
  for (const end = Date.now() + 30_000; ; await new Promise((resume) => setTimeout(resume, 50))) {
    try {
      return await run(url, 'SELECT 1');
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

async function run(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end();
  }
}

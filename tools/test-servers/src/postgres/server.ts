import { onFreePorts } from '@animal-store/test-kit/free-ports';
import pg from 'pg';
import { getContainerRuntimeClient, Wait } from 'testcontainers';
import { testContainer } from '../containers.ts';

/** The image of the server. */
export const IMAGE: string = process.env['POSTGRES_IMAGE'] ?? 'postgres:17';

/** The password of the superuser. */
const PASSWORD = 'the-password-of-the-tests';

const PORT = 5432;

/** A server in a container of its own. */
export type Server = Awaited<ReturnType<typeof start>>;

/** @param kind Durable: its data is in files of its container, and outlives its process. */
export async function startServer(kind: 'fast' | 'durable' = 'fast'): Promise<Server> {
  // A busy disk takes longer for a commit than a call may take. The kernel keeps what a killed process has written, but it may
  // have written half a page.
  const withoutDisk = ['-c', 'fsync=off', '-c', `full_page_writes=${kind === 'durable'}`];
  return start(kind, '/data', ['postgres', '-c', 'max_connections=500', ...withoutDisk]);
}

/** Starts a standby, for which each commit on the primary waits from now on. `pg_promote()` ends that. */
export async function startStandby(primary: Server): Promise<Server> {
  await primary.run("COPY (SELECT 'host replication all all scram-sha-256') TO PROGRAM 'cat >> /data/pg_hba.conf'");
  await primary.run('SELECT pg_reload_conf()');
  const data = '/data/standby';
  const source = `postgres://postgres:${PASSWORD}@${primary.address}/animals`;
  const commands = [
    `pg_basebackup --dbname ${source} --pgdata ${data} --write-recovery-conf --checkpoint=fast`,
    `chown -R postgres ${data}`,
    `chmod 711 /data`,
    'exec docker-entrypoint.sh postgres -c max_connections=500',
  ];
  const standby = await start('fast', data, ['bash', '-c', commands.join(' && ')]);
  await primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await primary.run('SELECT pg_reload_conf()');
  const isSynchronous = "EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')";
  await untilSucceeds(primary.url, `DO $$ BEGIN ASSERT ${isSynchronous}; END $$`);
  return standby;
}

async function start(kind: 'fast' | 'durable', data: string, command: string[]) {
  const { started, port } = await onFreePorts(1, async (port) => {
    const described = testContainer(IMAGE)
      .withEnvironment({ POSTGRES_PASSWORD: PASSWORD, POSTGRES_DB: 'animals', PGDATA: data })
      .withCommand(command)
      // The same one after a restart.
      .withExposedPorts({ container: PORT, host: port })
      // The public image first starts another server, which creates the database.
      .withWaitStrategy(Wait.forLogMessage(/listening on IPv4 address "0\.0\.0\.0"/));
    return { started: await (kind === 'fast' ? described.withTmpFs({ '/data': 'rw' }) : described).start(), port };
  });
  const engine = await getContainerRuntimeClient();
  const container = engine.container.getById(started.getId());
  const url = `postgres://postgres:${PASSWORD}@${started.getHost()}:${port}/animals`;
  const [network = ''] = started.getNetworkNames();
  await untilSucceeds(url, 'SELECT 1');
  return {
    /** Leads to its database `animals`, as superuser. */
    url,
    /** Where other containers reach it. */
    address: `${started.getIpAddress(network)}:${PORT}`,
    /** Ends the server like a crash. */
    kill: () => container.kill(),
    /** Starts it again, and returns when it accepts connections. */
    async start() {
      await container.start();
      await untilSucceeds(url, 'SELECT 1');
    },
    /** It keeps its connections and responds to nothing. */
    pause: () => container.pause(),
    resume: () => container.unpause(),
    /** Runs SQL as superuser. */
    run: (text: string) => run(url, text),
    /** Ends all sessions of clients. */
    async endSessions() {
      const others = "pid <> pg_backend_pid() AND backend_type = 'client backend'";
      await run(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
    },
    /** The end of its log. */
    diagnose: async () => String(await container.logs({ stdout: true, stderr: true, tail: 20 })),
    async stop() {
      await started.stop({ timeout: 0 });
    },
  };
}

/** The server accepts connections shortly after it listens. */
async function untilSucceeds(url: string, text: string): Promise<unknown> {
  for (const end = Date.now() + 300_000; ; await new Promise((resume) => setTimeout(resume, 50))) {
    try {
      return await run(url, text);
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** Runs SQL on a connection of its own. The rows are those of a text with one statement. */
export async function run(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // A lost connection also fails the query.
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

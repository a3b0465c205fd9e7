import { Wait } from 'testcontainers';
import { testContainer } from '../containers.ts';

export const IMAGE: string = process.env['MONGODB_IMAGE'] ?? 'mongo:8.0';

/** Options that make mongod a small server. */
const SMALL = '--wiredTigerCacheSizeGB 0.25 --oplogSize 128';

/** A member that is started with it has access control, and members know each other by it. */
export const KEY_FILE = '/tmp/key';

/**
 * Starts server processes of a replica set in one container, each named by the port that it listens on.
 *
 * @param network `published`: the ports have the same numbers inside the container and outside, so that members and
 * clients know each other by the same addresses on any platform. `host`: members also reach the ports of this machine.
 */
export async function startMemberProcesses(ports: readonly number[], network: 'published' | 'host', set?: string) {
  const base = testContainer(IMAGE)
    .withTmpFs({ '/data/db': 'rw' })
    // Its first process only waits, and reaps the members that end.
    .withEntrypoint([
      '/bin/sh',
      '-c',
      `(umask 077; echo secret > ${KEY_FILE}); echo waiting; while :; do sleep 1; done`,
    ])
    .withWaitStrategy(Wait.forLogMessage(/waiting/));
  const container = await (network === 'host'
    ? base.withNetworkMode('host')
    : base.withExposedPorts(...ports.map((port) => ({ container: port, host: port })))
  ).start();
  const bind = network === 'host' ? '--bind_ip 127.0.0.1' : '--bind_ip_all';

  async function run(script: string): Promise<void> {
    const { exitCode, output } = await container.exec(['/bin/sh', '-c', script]);
    if (exitCode !== 0) throw new Error(`in the container: ${script}\n${output}`);
  }
  const signal = (name: string, port: number) => run(`kill -${name} $(cat /data/db/${port}.pid)`);
  const files = (port: number) =>
    `--dbpath /data/db/${port} --logpath /data/db/${port}.log --pidfilepath /data/db/${port}.pid`;
  const processes = {
    /** Starts a process, and returns when it accepts connections. `set` has the options of its set, `''` for a standalone. */
    start: (port: number, set = '--replSet rs0') =>
      run(
        `mkdir -p /data/db/${port} && mongod --fork ${set} ${bind} --port ${port} ${files(port)} ` +
          // Lets a test make the server fail (failCommand), and a proxy see which member connects to it (hostInfo).
          `--setParameter enableTestCommands=1 ${SMALL}`,
      ),
    /** Ends a process as a crash does. */
    async kill(port: number) {
      await signal('KILL', port);
      // The files are free once the process is gone.
      await run(`while kill -0 $(cat /data/db/${port}.pid) 2>/dev/null; do sleep 0.1; done`);
    },
    /** The process keeps its connections and responds to nothing. */
    pause: (port: number) => signal('STOP', port),
    resume: (port: number) => signal('CONT', port),
    /** Ends all of them. */
    async stop() {
      await container.stop({ timeout: 0 });
    },
  };
  try {
    for (const port of ports) await processes.start(port, set);
  } catch (error) {
    await processes.stop();
    throw error;
  }
  return processes;
}

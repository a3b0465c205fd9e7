import { type AddressInfo, createServer } from 'node:net';
import { MongoClient } from 'mongodb';
import { Wait } from 'testcontainers';
import { mongoContainer, SMALL } from './containers.ts';
import { initiate } from './initiate.ts';

/** A replica set of real servers whose members can be killed, paused and started, in one container. */
export interface ReplicaSet {
  /** The URL of a database on it. */
  url(database: string): string;
  /** The port of the present primary, which names the member. */
  primary(): Promise<number>;
  readonly members: readonly number[];
  /** Ends a member as a crash does. */
  kill(member: number): Promise<void>;
  /** Starts a member that was killed, and returns when it takes connections. */
  start(member: number): Promise<void>;
  /** The same as a standalone, with the member's data. */
  startAlone(member: number): Promise<void>;
  /** SIGSTOP: the member keeps its connections and answers nothing. */
  pause(member: number): Promise<void>;
  /** SIGCONT */
  resume(member: number): Promise<void>;
  /** Ends all of it. */
  stop(): Promise<void>;
}

/**
 * The members listen on ports that have the same numbers inside the container and outside: so they and their clients
 * know each other by the same names, whatever the platform.
 */
export async function startReplicaSet(size: number): Promise<ReplicaSet> {
  const members = await freePorts(size);
  const container = await mongoContainer()
    // Its first process only waits, and takes leave of the members that end.
    .withEntrypoint(['/bin/sh', '-c', 'echo waiting; while :; do sleep 1; done'])
    .withWaitStrategy(Wait.forLogMessage(/waiting/))
    .withExposedPorts(...members.map((port) => ({ container: port, host: port })))
    .start();

  async function run(script: string): Promise<void> {
    const { exitCode, output } = await container.exec(['/bin/sh', '-c', script]);
    if (exitCode !== 0) throw new Error(`in the container: ${script}\n${output}`);
  }
  const signal = (name: string, member: number) => run(`kill -${name} $(cat /data/db/${member}.pid)`);
  const files = (member: number) =>
    `--dbpath /data/db/${member} --logpath /data/db/${member}.log --pidfilepath /data/db/${member}.pid`;
  const start = (member: number, set = '--replSet rs0') =>
    run(
      `mkdir -p /data/db/${member} && ` +
        `mongod --fork ${set} --bind_ip_all --port ${member} ${files(member)} ` +
        // Allows a test to make the server fail: see its failCommand.
        `--setParameter enableTestCommands=1 ${SMALL.join(' ')}`,
    );
  const hosts = members.map((member) => `127.0.0.1:${member}`);
  const directly = `mongodb://${hosts[0]}/?directConnection=true`;
  const stop = async () => {
    await container.stop({ timeout: 0 });
  };

  try {
    for (const member of members) await start(member);
    await initiate(directly, hosts, { electionTimeoutMillis: 1_000, heartbeatIntervalMillis: 200 });
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    members,
    url: (database) => `mongodb://${hosts.join(',')}/${database}?replicaSet=rs0`,
    async primary() {
      const client = new MongoClient(`mongodb://${hosts.join(',')}/?replicaSet=rs0`);
      try {
        const { me } = await client.db('admin').command({ hello: 1 });
        return Number(String(me).split(':')[1]);
      } finally {
        await client.close();
      }
    },
    async kill(member) {
      await signal('KILL', member);
      // The files are free once the process is gone.
      await run(`while kill -0 $(cat /data/db/${member}.pid) 2>/dev/null; do sleep 0.1; done`);
    },
    start: (member) => start(member),
    startAlone: (member) => start(member, ''),
    pause: (member) => signal('STOP', member),
    resume: (member) => signal('CONT', member),
    stop,
  };
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports: number[] = [];
  for (const server of servers) {
    if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

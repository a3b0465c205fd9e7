import { freePorts } from '@animal-store/test-kit/free-ports';
import { KEY_FILE, startMemberProcesses } from './member-processes.ts';
import { initiate } from './server.ts';

/** A replica set of one real server, which can be killed and started again at the same address. */
export interface ReplicaSet {
  /** The URL of a database on it. */
  url(database: string): string;
  /** Ends the server as a crash does. */
  kill(): Promise<void>;
  /** Starts the server that was killed, and returns when it accepts connections. */
  start(): Promise<void>;
  /** The same with access control: clients need a user, who exists already. */
  startGuarded(): Promise<void>;
  /** The same as a standalone, with the data of the member. */
  startAlone(): Promise<void>;
  stop(): Promise<void>;
}

/** Elections within a second or two, not ten. */
const QUICK_ELECTIONS = { electionTimeoutMillis: 1_000, heartbeatIntervalMillis: 200 };

export async function startReplicaSet(): Promise<ReplicaSet> {
  const [port] = (await freePorts(1)) as [number];
  const { kill, start, stop } = await startMemberProcesses([port], 'published');
  const host = `127.0.0.1:${port}`;
  try {
    await initiate(`mongodb://${host}/?directConnection=true`, [{ host }], QUICK_ELECTIONS);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: (database) => `mongodb://${host}/${database}?replicaSet=rs0`,
    kill: () => kill(port),
    start: () => start(port),
    startGuarded: () => start(port, `--replSet rs0 --keyFile ${KEY_FILE}`),
    startAlone: () => start(port, ''),
    stop,
  };
}

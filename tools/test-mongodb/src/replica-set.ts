import { freePorts } from '@animal-store/test-kit/free-ports';
import { MongoClient } from 'mongodb';
import { startMemberProcesses } from './member-processes.ts';
import { initiate } from './server.ts';

/** A replica set of real servers whose members can be killed, paused and started, in one container. */
export interface ReplicaSet {
  /** The URL of a database on it. */
  url(database: string): string;
  /** The port of the present primary, which names the member. */
  primary(): Promise<number>;
  readonly members: readonly number[];
  /** Ends a member as a crash does. */
  kill(member: number): Promise<void>;
  /** Starts a member that was killed, and returns when it accepts connections. */
  start(member: number): Promise<void>;
  /** The same as a standalone, with the member's data. */
  startAlone(member: number): Promise<void>;
  /** SIGSTOP: the member keeps its connections and responds to nothing. */
  pause(member: number): Promise<void>;
  /** SIGCONT */
  resume(member: number): Promise<void>;
  /** Ends all of it. */
  stop(): Promise<void>;
}

/** Elections within a second or two, not ten. */
const QUICK_ELECTIONS = { electionTimeoutMillis: 1_000, heartbeatIntervalMillis: 200 };

export async function startReplicaSet(size: number): Promise<ReplicaSet> {
  const members = await freePorts(size);
  const { stop, ...processes } = await startMemberProcesses(members, 'published');
  const hosts = members.map((member) => `127.0.0.1:${member}`);
  try {
    const configured = hosts.map((host) => ({ host }));
    await initiate(`mongodb://${hosts[0]}/?directConnection=true`, configured, QUICK_ELECTIONS);
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
    kill: processes.kill,
    start: (member) => processes.start(member),
    startAlone: (member) => processes.start(member, ''),
    pause: processes.pause,
    resume: processes.resume,
    stop,
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '@animal-store/test-kit/free-ports';
import { type Document, MongoClient, MongoNetworkError } from 'mongodb';
import { startMemberProcesses } from './member-processes.ts';
import { type MemberProxy, type Source, startMemberProxy } from './member-proxy.ts';
import { initiate } from './server.ts';

/**
 * A replica set of three whose members reach each other, and are reached, by way of proxies. A member is named by the
 * port that it listens on; connections to that port bypass the proxies.
 */
export type PartitionableSet = Awaited<ReturnType<typeof startPartitionableSet>>;

/** The first member is the primary whenever it can be, the second can follow it, and the third votes and is never elected. */
const RANKED = [2, 1, 0] as const;

const STATUS = { replSetGetStatus: 1 } as const;

const SETTINGS = {
  heartbeatIntervalMillis: 200,
  heartbeatTimeoutSecs: 1,
  // A new primary does not wait long for members that it can't reach.
  catchUpTimeoutMillis: 100,
  // Every member follows the primary.
  chainingAllowed: false,
};

/** A member that steps down closes its connections. */
function unlessClosed(failure: unknown): null {
  if (failure instanceof MongoNetworkError) return null;
  throw failure;
}

/**
 * Needs the host's network for its container, because members must reach proxies in this process.
 *
 * @param electionTimeoutMillis After this time of silence another primary is elected, and a primary that hears no majority
 * steps down.
 * @param priorities The priorities of the members, in their order. A member with 0 votes and is never elected.
 */
export async function startPartitionableSet(
  electionTimeoutMillis: number,
  priorities: readonly [number, number, number] = RANKED,
) {
  const members = (await freePorts(3)) as [number, number, number];
  const processes = await startMemberProcesses(members, 'host');
  const proxies = new Map<number, MemberProxy>();

  async function stop(): Promise<void> {
    await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    await processes.stop();
  }

  const urlPastProxies = (member: number, database: string) =>
    `mongodb://127.0.0.1:${member}/${database}?directConnection=true`;
  const proxyOf = (member: number) => proxies.get(member) as MemberProxy;
  const addressOf = (member: number) => `127.0.0.1:${proxyOf(member).port}`;

  try {
    for (const member of members) proxies.set(member, await startMemberProxy(member));
    const configured = members.map((member, index) => ({
      host: addressOf(member),
      priority: priorities[index] as number,
    }));
    await initiate(urlPastProxies(members[0], ''), configured, { ...SETTINGS, electionTimeoutMillis });
  } catch (error) {
    await stop();
    throw error;
  }

  /** Waits until the response of a member to a command is right, and returns it. */
  async function until(member: number, command: Document, isRight: (response: Document) => boolean): Promise<Document> {
    const client = new MongoClient(urlPastProxies(member, 'admin'));
    try {
      const deadline = Date.now() + 400_000;
      for (;;) {
        const response = await client.db().command(command).catch(unlessClosed);
        if (response !== null && isRight(response)) return response;
        if (Date.now() > deadline) throw new Error(`member ${member} after 400 seconds: ${JSON.stringify(response)}`);
        await pause(20);
      }
    } finally {
      await client.close();
    }
  }

  /** Waits until each member has a status as it should be. */
  async function all(isRight: (status: Document) => boolean): Promise<Document[]> {
    return Promise.all(members.map((member) => until(member, STATUS, isRight)));
  }

  function reconnect(): void {
    for (const proxy of proxies.values()) proxy.heal();
  }

  const { kill, start, pause: pauseMember, resume } = processes;
  return {
    /** The ports in the order of their priorities; the first member is the primary at the start. */
    members,
    kill,
    start,
    pause: pauseMember,
    resume,

    /** The URL of a database on it. */
    url: (database: string) => `mongodb://${members.map(addressOf).join(',')}/${database}?replicaSet=rs0`,

    /** The URL of a database on one member, whatever it is, past the proxies: no partition concerns it. */
    urlPastProxies,

    /** Drops the requests of a source to a member, and the responses to them, from now on. */
    silence: (from: Source, to: number) => proxyOf(to).silence(from),

    /** Delays the responses of a member to a source by this time, in milliseconds. */
    delayResponses: (from: Source, to: number, milliseconds: number) => proxyOf(to).delayResponses(from, milliseconds),

    /** Breaks the connections between a member and the other members, also new ones; clients still reach it. */
    isolate(member: number): void {
      for (const other of members) {
        if (other === member) continue;
        proxyOf(member).reject(other);
        proxyOf(other).reject(member);
      }
    },

    /** Ends all of that. */
    reconnect,

    /** Ends all of that, and waits until the first member is the primary and the others have everything that it had then. */
    async heal(): Promise<void> {
      reconnect();
      const [primary] = await all(({ members: seen }) =>
        (seen as Document[]).every(({ stateStr }, index) => stateStr === (index === 0 ? 'PRIMARY' : 'SECONDARY')),
      );
      // Clients may continue to write, so the positions may never be equal.
      const position = primary?.['optimes'].appliedOpTime.ts;
      await all(({ optimes }) => optimes.appliedOpTime.ts.greaterThanOrEqual(position));
    },

    /** Waits until a member is the primary and can be written. */
    async becomesPrimary(member: number): Promise<void> {
      await until(member, { hello: 1 }, ({ isWritablePrimary }) => isWritablePrimary === true);
    },

    stop,
  };
}

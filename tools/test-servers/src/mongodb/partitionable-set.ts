import { onFreePorts } from '@animal-store/test-kit/free-ports';
import type { Document } from 'mongodb';
import { startMemberProcesses } from './member-processes.ts';
import { type MemberProxy, type Source, startMemberProxy } from './member-proxy.ts';
import { initiate, run, until } from './server.ts';

/**
 * A replica set of three whose members reach each other, and are reached, by way of proxies. A member is named by the
 * port that it listens on; connections to that port bypass the proxies.
 */
export type PartitionableSet = Awaited<ReturnType<typeof startPartitionableSet>>;

/** The first member is the primary whenever it can be, the second can follow it, and the third votes and is never elected. */
const RANKED = [2, 1, 0] as const;

const SETTINGS = {
  heartbeatIntervalMillis: 200,
  heartbeatTimeoutSecs: 1,
  // A new primary does not wait long for members that it can't reach.
  catchUpTimeoutMillis: 100,
  // Every member follows the primary.
  chainingAllowed: false,
};

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
  const { members, processes } = await onFreePorts(3, async (...ports) => ({
    members: ports as [number, number, number],
    processes: await startMemberProcesses(ports, 'host'),
  }));
  const proxies = new Map<number, MemberProxy>();

  async function stop(): Promise<void> {
    await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    await processes.stop();
  }

  const urlPastProxies = (member: number, database = '') =>
    `mongodb://127.0.0.1:${member}/${database}?directConnection=true`;
  const proxyOf = (member: number) => proxies.get(member) as MemberProxy;
  const addressOf = (member: number) => `127.0.0.1:${proxyOf(member).port}`;

  try {
    for (const member of members) proxies.set(member, await startMemberProxy(member));
    const configured = members.map((member, index) => ({ host: addressOf(member), priority: priorities[index] }));
    await initiate(urlPastProxies(members[0]), configured, { ...SETTINGS, electionTimeoutMillis });
  } catch (error) {
    await stop();
    throw error;
  }

  /** Waits until each member has a status as it should be. */
  const all = (isRight: (status: Document) => boolean): Promise<Document[]> =>
    Promise.all(members.map((member) => until(urlPastProxies(member), { replSetGetStatus: 1 }, isRight)));

  function reconnect(): void {
    for (const proxy of proxies.values()) proxy.heal();
  }

  return {
    ...processes,

    /** The ports in the order of their priorities; the first member is the primary at the start. */
    members,

    /** The URL of a database on it. */
    url: (database: string) => `mongodb://${members.map(addressOf).join(',')}/${database}?replicaSet=rs0`,

    /** The URL of a database on one member, whatever it is, past the proxies: no partition concerns it. */
    urlPastProxies,

    /** Runs a command of administrators on a member. */
    run: (member: number, command: Document) => run(urlPastProxies(member), command),

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
      await until(urlPastProxies(member), { hello: 1 }, ({ isWritablePrimary }) => isWritablePrimary === true);
    },

    stop,
  };
}

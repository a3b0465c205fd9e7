import { setTimeout as pause } from 'node:timers/promises';
import { CLIENTS, type PartitionableSet } from '@animal-store/test-mongodb';
import { type Document, MongoClient } from 'mongodb';

/** What is done to the members of a replica set, one after the other. */
export const FAULTS = {
  kill: async (set, member) => {
    await set.kill(member);
    await aWhile();
    await set.start(member);
  },
  pause: async (set, member) => {
    await set.pause(member);
    await aWhile();
    await set.resume(member);
  },
  'step down': async (set) => {
    await stepDown(set);
  },
  isolate: async (set, member) => {
    set.isolate(member);
    await aWhile();
    set.reconnect();
  },
  /** The requests of the other members reach it; its own do not reach them. */
  mute: async (set, member) => {
    for (const other of othersOf(set, member)) set.silence(member, other);
    await aWhile();
    set.reconnect();
  },
  /** Its requests reach the other members; theirs do not reach it. */
  deafen: async (set, member) => {
    for (const other of othersOf(set, member)) set.silence(other, member);
    await aWhile();
    set.reconnect();
  },
  /** The other members reach it; the service does not. */
  'hide from clients': async (set, member) => {
    set.silence(CLIENTS, member);
    await aWhile();
    set.reconnect();
  },
} as const satisfies Record<string, (set: PartitionableSet, member: number) => Promise<void>>;

export type Fault = keyof typeof FAULTS;

/** How often faults hit the primary. */
const PRIMARY_SHARE = 0.7;

/** How long a fault lasts, in milliseconds: shorter and longer than an election takes. */
const aWhile = () => pause(300 + Math.random() * 4_200);

/** How long the set may take to recover from a fault, in milliseconds. */
const RECOVERY_TIMEOUT = 40_000;

/** How many pets must be acknowledged before the next fault. */
const PROGRESS = 100;

/**
 * Lets the set suffer all faults in turn, in a new random order each round, and recover after each. The first round is
 * always complete.
 *
 * @param acknowledged How many pets have been acknowledged so far.
 * @returns How often each fault happened.
 * @throws Error if the set does not recover.
 */
export async function injectFaults(
  set: PartitionableSet,
  { until, acknowledged }: { until: () => boolean; acknowledged: () => number },
): Promise<Record<Fault, number>> {
  const counts = Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, 0])) as Record<Fault, number>;

  async function recovery(after: string): Promise<void> {
    const goal = acknowledged() + PROGRESS;
    const deadline = performance.now() + RECOVERY_TIMEOUT;
    while (acknowledged() < goal) {
      if (performance.now() > deadline) {
        throw new Error(`no recovery in ${RECOVERY_TIMEOUT} ms after ${after}: ${await statesOf(set)}`);
      }
      await pause(20);
    }
  }

  await recovery('the start');
  while (!until()) {
    for (const fault of shuffled(Object.keys(FAULTS) as Fault[])) {
      if (until() && counts[fault] > 0) break;
      const primary = await primaryOf(set);
      const member = Math.random() < PRIMARY_SHARE ? primary : (shuffled(othersOf(set, primary))[0] as number);
      await FAULTS[fault](set, member);
      counts[fault] += 1;
      await recovery(fault);
    }
  }
  return counts;
}

const othersOf = ({ members }: PartitionableSet, member: number): number[] =>
  members.filter((other) => other !== member);

/** Fisher and Yates. */
function shuffled<T>(values: readonly T[]): T[] {
  const result = [...values];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}

/** The port of the member that is the primary, or becomes it. */
async function primaryOf(set: PartitionableSet): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    for (const member of set.members) {
      const isPrimary = await withAdmin(set, member, async (client) => {
        const { isWritablePrimary } = await client.db().command({ hello: 1 });
        return isWritablePrimary === true;
      });
      if (isPrimary) return member;
    }
    await pause(100);
  }
  throw new Error('the replica set has no primary');
}

/** How each member sees all of them. */
async function statesOf(set: PartitionableSet): Promise<string> {
  const states = set.members.map((member) =>
    withAdmin(set, member, async (client) => {
      const { members } = await client.db().command({ replSetGetStatus: 1 });
      return (members as Document[]).map(({ stateStr }) => stateStr).join(' ');
    }).catch(({ message }: Error) => message),
  );
  return (await Promise.all(states)).join('; ');
}

async function stepDown(set: PartitionableSet): Promise<void> {
  const primary = await primaryOf(set);
  await withAdmin(set, primary, (client) =>
    client.db().command({ replSetStepDown: 3, secondaryCatchUpPeriodSecs: 2, force: true }),
  );
}

async function withAdmin<T>(set: PartitionableSet, member: number, work: (client: MongoClient) => Promise<T>) {
  const client = new MongoClient(set.urlPastProxies(member, 'admin'), { serverSelectionTimeoutMS: 5_000 });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

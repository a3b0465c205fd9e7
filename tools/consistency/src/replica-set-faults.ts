import { setTimeout as pause } from 'node:timers/promises';
import { CLIENTS, type PartitionableSet } from '@animal-store/test-servers/mongodb';
import { type Document, MongoClient } from 'mongodb';
import { type Faults, shuffled } from './faults.ts';

/** Faults of the members of a replica set. */
const FAULTS = {
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
  'step down': stepDown,
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

/** How long a fault lasts, in milliseconds: shorter and longer than an election takes. */
const aWhile = () => pause(300 + Math.random() * 4_200);

/** How often faults hit the primary. */
const PRIMARY_SHARE = 0.7;

export function replicaSetFaults(set: PartitionableSet): Faults {
  const faults = Object.entries(FAULTS).map(([name, inject]) => [
    name,
    async () => {
      const primary = await primaryOf(set);
      await inject(set, Math.random() < PRIMARY_SHARE ? primary : (shuffled(othersOf(set, primary))[0] as number));
    },
  ]);
  return Object.fromEntries(faults);
}

const othersOf = ({ members }: PartitionableSet, member: number): number[] =>
  members.filter((other) => other !== member);

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
export async function statesOf(set: PartitionableSet): Promise<string> {
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

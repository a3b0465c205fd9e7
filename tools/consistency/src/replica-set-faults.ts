import { setTimeout as pause } from 'node:timers/promises';
import { CLIENTS, type PartitionableSet } from '@animal-store/test-servers/mongodb';
import { type Document, MongoClient } from 'mongodb';
import { type Faults, shuffled } from './faults.ts';

type Fault = (set: PartitionableSet, member: number) => unknown;

/** Lasts shorter or longer than an election takes. */
const during =
  (begin: Fault, end: Fault = (set) => set.reconnect()): Fault =>
  async (set, member) => {
    await begin(set, member);
    await pause(300 + Math.random() * 4_200);
    await end(set, member);
  };

/** Faults of the members of a replica set. */
const FAULTS: Readonly<Record<string, Fault>> = {
  kill: during(
    (set, member) => set.kill(member),
    (set, member) => set.start(member),
  ),
  pause: during(
    (set, member) => set.pause(member),
    (set, member) => set.resume(member),
  ),
  'step down': stepDown,
  isolate: during((set, member) => set.isolate(member)),
  /** The requests of the other members reach it; its own do not reach them. */
  mute: during((set, member) => othersOf(set, member).map((other) => set.silence(member, other))),
  /** Its requests reach the other members; theirs do not reach it. */
  deafen: during((set, member) => othersOf(set, member).map((other) => set.silence(other, member))),
  /** The other members reach it; the service does not. */
  'hide from clients': during((set, member) => set.silence(CLIENTS, member)),
};

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

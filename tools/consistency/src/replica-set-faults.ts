import { setTimeout as pause } from 'node:timers/promises';
import { CLIENTS, type PartitionableSet } from '@animal-store/test-servers/mongodb';
import type { Document } from 'mongodb';
import { type Faults, shuffled } from './faults.ts';

/** Injects a fault, or ends it. */
type Fault = (member: number) => unknown;

/** How often faults hit the primary. */
const PRIMARY_SHARE = 0.7;

/** Faults of the members of a replica set. */
export function replicaSetFaults(set: PartitionableSet): Faults {
  const othersOf = (member: number) => set.members.filter((other) => other !== member);
  /** A fault of one member, shorter or longer than an election takes. */
  const during =
    (begin: Fault, end: Fault = set.reconnect) =>
    async () => {
      const primary = await primaryOf(set);
      const member = Math.random() < PRIMARY_SHARE ? primary : (shuffled(othersOf(primary))[0] as number);
      await begin(member);
      await pause(300 + Math.random() * 4_200);
      await end(member);
    };
  return {
    kill: during(set.kill, set.start),
    pause: during(set.pause, set.resume),
    'step down': async () => {
      const command = { replSetStepDown: 3, secondaryCatchUpPeriodSecs: 2, force: true };
      await set.run(await primaryOf(set), command);
    },
    isolate: during(set.isolate),
    /** The requests of the other members reach it; its own do not reach them. */
    mute: during((member) => othersOf(member).map((other) => set.silence(member, other))),
    /** Its requests reach the other members; theirs do not reach it. */
    deafen: during((member) => othersOf(member).map((other) => set.silence(other, member))),
    /** The other members reach it; the service does not. */
    'hide from clients': during((member) => set.silence(CLIENTS, member)),
  };
}

/** The port of the member that is the primary, or becomes it. */
async function primaryOf(set: PartitionableSet): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    for (const member of set.members) {
      const { isWritablePrimary } = await set.run(member, { hello: 1 });
      if (isWritablePrimary) return member;
    }
    await pause(100);
  }
  throw new Error('the replica set has no primary');
}

/** How each member sees all of them. */
export async function statesOf(set: PartitionableSet): Promise<string> {
  const states = set.members.map((member) =>
    set.run(member, { replSetGetStatus: 1 }).then(
      ({ members }) => (members as Document[]).map(({ stateStr }) => stateStr).join(' '),
      ({ message }: Error) => message,
    ),
  );
  return (await Promise.all(states)).join('; ');
}

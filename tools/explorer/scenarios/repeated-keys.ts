// Creations with idempotency keys in two processes, on a replica set that elects another primary.

import type { Pet } from '@animal-store/domain';
import { createReplicaSet, DUPLICATE_KEY, haveSameKey, type NewPet, type ReplicaSetOptions } from '../fakes/mongodb.ts';
import { IS_NIGHTLY, type SeededError, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

const URL_MODULE = 'packages/adapter-mongodb/src/url.ts';
const INSERT = 'packages/adapter-mongodb/src/insert.ts';
const READ = 'packages/adapter-mongodb/src/read.ts';
const IDS = 'packages/adapter-mongodb/src/ids.ts';

type Modules = typeof import('../../../packages/adapter-mongodb/src/url.ts') &
  typeof import('../../../packages/adapter-mongodb/src/insert.ts') &
  typeof import('../../../packages/adapter-mongodb/src/read.ts');

/** What the clients of each process create, one after the other. */
type Processes = Readonly<Record<string, readonly (readonly NewPet[])[]>>;

const scenario =
  (processes: Processes, options: ReplicaSetOptions) =>
  ({ createInsertions, createQuery, TIME_LIMITS }: Modules) =>
  (world: World) => {
    // No batch exceeds its time limit.
    TIME_LIMITS.batch = Number.POSITIVE_INFINITY;
    const { state, pets, client, databaseOf } = createReplicaSet(world, options);
    const created: { readonly sent: NewPet; readonly pet: Pet; readonly isNew: boolean }[] = [];
    const conflicts: NewPet[] = [];
    let failed = 0;

    for (const [process, clients] of Object.entries(processes)) {
      const db = databaseOf(process);
      const insertions = createInsertions(db, createQuery(db, undefined), client, async () => {});
      const creating = (sent: NewPet) =>
        async function create(): Promise<void> {
          try {
            const creation = await insertions.create(sent);
            if (creation === null) conflicts.push(sent);
            else created.push({ sent, pet: creation.pet, isNew: creation.created });
          } catch (error) {
            const mayFail = state.failures + state.elections > 0;
            if (!mayFail || (error as { code?: unknown }).code === DUPLICATE_KEY) throw error;
            failed += 1;
          }
        };
      for (const [index, sent] of clients.entries()) world.client(`${process}${index + 1}`, sent.map(creating));
    }

    world.finally(() => {
      for (const { sent, pet } of created) {
        if (pet.name !== sent.name) throw new Error(`${sent.name} got the pet ${pet.name}`);
        if (!pets().some(({ _id, name }) => _id === pet.id && name === pet.name))
          throw new Error(`${pet.name} is lost`);
        const others = created.filter((other) => other.pet.id !== pet.id);
        if (others.some((other) => haveSameKey(other.sent, sent))) throw new Error(`${pet.name} has two ids`);
      }
      for (const sent of conflicts) {
        const isConflict = pets().some((pet) => haveSameKey(pet, sent) && pet.name !== sent.name);
        if (!isConflict) throw new Error(`no other pet has the key of ${sent.name}`);
      }
      // Each stored pet, except for the restored ones, was new for one call; for none if a call failed that had stored it.
      for (const { _id, name } of pets().slice(options.restored?.length)) {
        const count = created.filter(({ pet, isNew }) => isNew && pet.id === _id).length;
        if (count > 1 || (count === 0 && failed === 0)) throw new Error(`${name} was created ${count} times`);
      }
    });
  };

const pet = (name: string): NewPet => ({ name, categoryId: 1n });

/** A pet with the idempotency key that all of a holder share. */
const petOf = (holder: string, name: string): NewPet => {
  return { ...pet(name), idempotency: { holder, key: 'k', fingerprint: name } };
};

const rex = petOf('zoo', 'Rex');
const max = petOf('zoo', 'Max');

const trialOf = (
  title: string,
  processes: Processes,
  options: ReplicaSetOptions,
  errors: readonly SeededError[] = [],
) => trial<Modules>(title, [URL_MODULE, INSERT, READ], scenario(processes, options), errors);

await trialOf(
  'a creation, a repetition and a conflict of two processes',
  { A: [[rex, rex]], B: [[max]] },
  { failures: 1, elections: 1 },
  [
    ['a lookup does not wait for the majority', READ, 'batchSize: limit }, session)', 'batchSize: limit }, {})'],
    ['another pet is no conflict', INSERT, 'found.idempotency?.fingerprint === pet.idempotency?.fingerprint', 'true'],
    ['a rolled back creation is not tried again', INSERT, 'MAX_TRIES = 3', 'MAX_TRIES = 1'],
    ['an insertion that timed out is acknowledged', INSERT, 'isUnconfirmed || ', ''],
    ['a lost insertion is acknowledged', INSERT, 'rejected.length + failure.insertedCount !==', 'false &&'],
  ],
);
await trialOf('a creation and a conflict at once in one process', { A: [[rex], [max]] }, {});
await trialOf(
  '2 creations after 12 pets were restored',
  { A: [[pet('Tom')], [rex]] },
  { restored: Array(12).fill(pet('Ben')) },
  [
    ['the counter stays behind the restored pets', INSERT, 'if (tried > 1) await raiseCounter(session);', ''],
    ['ids of before are used after the counter was raised', IDS, '      expiresAt = 0;', ''],
  ],
);
const farm = petOf('farm', 'Max');
await trialOf('2 repetitions of two holders', { A: [[rex], [farm]] }, { restored: [rex, farm] }, [
  ['holders share their keys', INSERT, 'holder}`', 'key}`'],
]);
// It is found in 8,000 runs on average.
if (IS_NIGHTLY)
  await trialOf(
    'a creation and 2 conflicts of two processes after a pet was restored',
    { A: [[rex]], B: [[max, max]] },
    { restored: [pet('Ben')], elections: 1 },
    [
      [
        'the last rejection is not looked up',
        INSERT,
        'await findEarlier(rest',
        'if (tried < MAX_TRIES) await findEarlier(rest',
      ],
    ],
  );

// Creations with idempotency keys in two processes, on a replica set that elects another primary.

import { createReplicaSet, DUPLICATE_KEY, keyOf, type NewPet, type ReplicaSetOptions } from '../fakes/mongodb.ts';
import { IS_NIGHTLY, type SeededError, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

const URL_MODULE = 'packages/adapter-mongodb/src/url.ts';
const INSERT = 'packages/adapter-mongodb/src/insert.ts';
const READ = 'packages/adapter-mongodb/src/read.ts';
const IDS = 'packages/adapter-mongodb/src/ids.ts';

type Modules = typeof import('../../../packages/adapter-mongodb/src/url.ts') &
  typeof import('../../../packages/adapter-mongodb/src/insert.ts') &
  typeof import('../../../packages/adapter-mongodb/src/read.ts');

type Insertions = ReturnType<Modules['createInsertions']>;

/** The creations of each client, one after the other. The last letter of a client's name is its process. */
type Clients = Readonly<Record<string, readonly NewPet[]>>;

const scenario =
  (clients: Clients, options: ReplicaSetOptions = {}) =>
  ({ createInsertions, createQuery, TIME_LIMITS }: Modules) =>
  (world: World) => {
    // No batch exceeds its time limit.
    TIME_LIMITS.batch = Number.POSITIVE_INFINITY;
    const { values, allPets, client, databaseOf } = createReplicaSet(world, options);
    const created: { readonly sent: NewPet; readonly id: number; readonly isNew: boolean }[] = [];
    const conflicts: NewPet[] = [];

    const creating = ({ create: insert }: Insertions, sent: NewPet) =>
      async function create(): Promise<void> {
        const creation = await insert(sent).catch((error: Error) => error);
        if (creation instanceof Error) {
          if ((creation as { code?: unknown }).code === DUPLICATE_KEY)
            throw new Error(`${sent.name} is a duplicate key`);
          // The driver tries an insertion twice: it fails after two losses or elections, or after one timeout.
          const mayFail = values.timeouts > 0 || values.losses + values.term >= 2;
          if (!mayFail) throw creation;
        } else if (creation === null) {
          conflicts.push(sent);
        } else {
          const { pet, created: isNew } = creation;
          if (pet.name !== sent.name) throw new Error(`${sent.name} got the pet ${pet.name}`);
          created.push({ sent, id: Number(pet.id), isNew });
        }
      };
    const processes: Record<string, Insertions> = {};
    for (const [name, pets] of Object.entries(clients)) {
      const process = name.slice(-1);
      const db = databaseOf(process);
      processes[process] ??= createInsertions(db, createQuery(db, undefined), client, async () => {});
      const insertions = processes[process];
      const calls = pets.map((pet) => creating(insertions, pet));
      world.client(name, calls, process);
    }

    world.finally(() => {
      const stored = allPets();
      for (const { sent, id } of created) {
        const isKept = stored.some((other) => other.id === id && other.pet.name === sent.name);
        if (!isKept) throw new Error(`${sent.name} is lost`);
        const isDoubled = created.some((other) => keyOf(other.sent) === keyOf(sent) && other.id !== id);
        if (sent.idempotency !== undefined && isDoubled) throw new Error(`two pets of the key of ${sent.name}`);
      }
      const newIds = created.filter(({ isNew }) => isNew).map(({ id }) => id);
      if (new Set(newIds).size < newIds.length) throw new Error('a pet was created twice');
      for (const sent of conflicts) {
        const isConflict = stored.some(({ pet }) => keyOf(pet) === keyOf(sent) && pet.name !== sent.name);
        if (!isConflict) throw new Error(`no other pet has the key of ${sent.name}`);
      }
      const expected = Object.values(clients).flat().filter(hasNoKey).length;
      const found = stored.filter(({ pet, by }) => hasNoKey(pet) && by !== null).length;
      if (values.losses + values.timeouts === 0 && found !== expected) throw new Error(`${found} pets without a key`);
    });
  };

const hasNoKey = ({ idempotency }: NewPet): boolean => idempotency === undefined;

const pet = (name: string): NewPet => ({ name, categoryId: 1n });

/** A pet with the idempotency key that all of a holder share. */
const petOf = (holder: string, name: string): NewPet => {
  return { ...pet(name), idempotency: { holder, key: 'k', fingerprint: name } };
};

const rex = petOf('zoo', 'Rex');
const max = petOf('zoo', 'Max');

const trialOf = (title: string, sizes: [Clients, ReplicaSetOptions?], errors: readonly SeededError[] = []) =>
  trial<Modules>(title, [URL_MODULE, INSERT, READ], scenario(...sizes), errors);

await trialOf(
  'a creation and a conflict of two processes, an election',
  [{ 'first A': [rex], 'second B': [max] }],
  [
    ['a lookup does not wait for the majority', READ, 'batchSize: limit }, session)', 'batchSize: limit }, {})'],
    ['another pet is no conflict', INSERT, 'found.idempotency?.fingerprint === pet.idempotency?.fingerprint', 'true'],
    ['a rolled back creation is not tried again', INSERT, 'MAX_TRIES = 3', 'MAX_TRIES = 1'],
  ],
);
await trialOf('a creation, a repetition and a conflict of two processes, an election', [
  { 'first A': [rex, rex], 'second B': [max] },
]);
await trialOf(
  'a creation and a repetition, a lost response, a timeout, an election',
  [{ 'first A': [rex, rex] }, { losses: 1, timeouts: 1 }],
  [
    ['an insertion that timed out is acknowledged', INSERT, 'isUnconfirmed || ', ''],
    ['a lost insertion is acknowledged', INSERT, 'rejected.length + failure.insertedCount !==', 'false &&'],
  ],
);
await trialOf('a creation and a conflict at once in one process', [
  { 'first A': [rex], 'second A': [max] },
  { elections: 0 },
]);
await trialOf(
  '12 restored pets, 2 creations',
  [
    { 'first A': [pet('Tom')], 'second A': [rex] },
    { restored: Array(12).fill(pet('Ben')), elections: 0 },
  ],
  [
    ['the counter stays behind the restored pets', INSERT, 'if (tried > 1) await raiseCounter(session);', ''],
    ['ids of before are used after the counter was raised', IDS, '      expiresAt = 0;', ''],
  ],
);
await trialOf(
  '2 repetitions of two holders',
  [
    { 'first A': [rex], 'second A': [petOf('farm', 'Max')] },
    { restored: [rex, petOf('farm', 'Max')], elections: 0 },
  ],
  [['holders share their keys', INSERT, 'holder}`', 'key}`']],
);
// It is found in 8,000 runs on average.
if (IS_NIGHTLY)
  await trialOf(
    'a restored pet, a creation and a conflict of two processes, an election',
    [{ 'first A': [rex], 'second B': [max] }, { restored: [pet('Ben')] }],
    [
      [
        'the last rejection is not looked up',
        INSERT,
        'await findEarlier(rest',
        'if (tried < MAX_TRIES) await findEarlier(rest',
      ],
    ],
  );

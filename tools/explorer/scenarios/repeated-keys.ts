import { BSON, MongoBulkWriteError, Timestamp } from 'mongodb';
import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// Creations with idempotency keys in two processes, on a replica set of MongoDB that elects another primary: it has the
// writes of a majority, and may have those that were not confirmed. One key stands for one pet, which each repetition gets. A
// repetition with another pet is a conflict, and no acknowledged pet is lost. The driver repeats an insertion once.

const URL_MODULE = 'packages/adapter-mongodb/src/url.ts';
const INSERT = 'packages/adapter-mongodb/src/insert.ts';
const EARLIER = 'packages/adapter-mongodb/src/earlier.ts';
const READ = 'packages/adapter-mongodb/src/read.ts';
const FENCE = 'packages/adapter-mongodb/src/fence.ts';

/** An error's code: a unique index rejects a document. */
const DUPLICATE_KEY = 11_000;

type Modules = typeof import('../../../packages/adapter-mongodb/src/url.ts') &
  typeof import('../../../packages/adapter-mongodb/src/insert.ts') &
  typeof import('../../../packages/adapter-mongodb/src/read.ts') &
  typeof import('../../../packages/adapter-mongodb/src/fence.ts');

type PetDocument = import('../../../packages/adapter-mongodb/src/documents.ts').PetDocument;
type Insertions = ReturnType<Modules['createInsertions']>;
type Session = import('mongodb').ClientSession;
type Db = import('mongodb').Db;
type MongoClient = import('mongodb').MongoClient;

/** A part of the filter of a lookup. */
type Condition = Readonly<{ 'idempotency.holder': string; 'idempotency.key': { $in: readonly (string | null)[] } }>;

/** A write in the log of the primary. */
interface Entry {
  readonly id: number;
  /** Holder and key; null: without one. */
  readonly key: string | null;
  readonly holder: string;
  readonly body: string;
  readonly time: number;
  /** The insertion that has written it, whatever its number of tries. */
  readonly by: string;
}

interface Sizes {
  /** Of each client its creations, as texts. The last letter of its name is its process. */
  readonly clients: Readonly<Record<string, readonly string[]>>;
  /** Pets that were restored without the counter. */
  readonly restored?: readonly string[];
  readonly losses?: number;
  readonly timeouts?: number;
  readonly elections?: number;
}

/** The pet of a text as `holder key=body`, or `=body` for one without a key. */
function petOf(text: string): Pick<Entry, 'holder' | 'key' | 'body'> {
  const [name = '', body = ''] = text.split('=');
  const [holder = '', key = null] = name.split(' ');
  return { holder, key, body };
}

const scenario =
  ({ clients, restored = [], losses = 0, timeouts = 0, elections = 1 }: Sizes) =>
  ({ createFence, createInsertions, createQuery, TIME_LIMITS }: Modules) =>
  (world: World) => {
    // No batch exceeds its time limit.
    TIME_LIMITS.batch = 1e6;
    const log = restored.map((text, index) => ({ id: index + 1, ...petOf(text), time: 0, by: 'restore' }));
    const shared = world.shared({
      term: 1,
      log: log as readonly Entry[],
      /** The length of the log that the primary knows a majority to have, and the time of its last write. */
      committed: log.length,
      committedTime: 0,
      time: 0,
      /** Whether the primary has committed a write of its own term. */
      hasOwn: true,
      counter: 0,
      failures: { losses: 0, timeouts: 0 },
      /** Which pet each key stands for, and which bodies were rejected under it. */
      pets: [] as readonly { readonly name: string; readonly id: number; readonly body: string; created: boolean }[],
      conflicts: [] as readonly { readonly name: string; readonly body: string }[],
    });
    const commit = () => {
      shared.committed = shared.log.length;
      shared.committedTime = shared.time;
    };
    const nameOf = ({ holder, key }: Pick<Entry, 'holder' | 'key'>) => `${holder} ${key}`;
    const fail = (failure: 'losses' | 'timeouts') => {
      shared.failures = { ...shared.failures, [failure]: shared.failures[failure] + 1 };
    };

    /** The database of one process, as the driver offers it. */
    function databaseOf(process: string): Db {
      let insertions = 0;
      const see = (session: Session, time: number) => session.advanceOperationTime(new Timestamp({ t: time, i: 0 }));
      const timeOf = (session: Session) => session.operationTime?.t ?? 0;

      /** Waits until the majority has what the session has met, and reads what it has. */
      const read = <T>(name: string, session: Session, query: (pets: readonly Entry[]) => T) => {
        const fence = timeOf(session);
        return world.command(name, {
          can: () => shared.committedTime >= fence || shared.hasOwn,
          run: () => {
            if (shared.committedTime < fence) commit();
            return query(shared.log.slice(0, shared.committed));
          },
        });
      };

      /** One try of the driver to insert. */
      async function insert(by: string, documents: readonly PetDocument[]) {
        const write = () => {
          const rejected: number[] = [];
          for (const [index, { _id, name, idempotency }] of documents.entries()) {
            const { holder, key } = idempotency ?? { holder: '', key: null };
            const entry = { id: Number(_id), holder, key, body: name, by: `${by}.${index}` };
            // The server knows the insertions of a repeated command.
            if (shared.log.some((other) => other.by === entry.by)) continue;
            const isTaken = (other: Entry) =>
              other.id === entry.id || (key !== null && nameOf(other) === nameOf(entry));
            if (shared.log.some(isTaken)) rejected.push(index);
            else shared.log = [...shared.log, { ...entry, time: ++shared.time }];
          }
          return { rejected, time: shared.time, term: shared.term };
        };
        const lost = (): ReturnType<typeof write> => {
          fail('losses');
          write();
          throw new Error('the response was lost');
        };
        const { rejected, time, term } = await world.command('insert', {
          run: shared.failures.losses < losses ? { done: write, 'response lost': lost } : write,
        });
        if (rejected.length === documents.length) return { rejected, time, isConfirmed: true };
        const confirm = () => {
          if (shared.term !== term) throw new Error('the primary has stepped down');
          commit();
          return true;
        };
        const late = () => {
          fail('timeouts');
          return false;
        };
        const isConfirmed = await world.command('confirm', {
          can: () => shared.term !== term || shared.hasOwn,
          run: shared.failures.timeouts < timeouts ? { done: confirm, 'times out': late } : confirm,
        });
        return { rejected, time, isConfirmed };
      }

      const pets = {
        async insertMany(documents: readonly PetDocument[], { session }: { session: Session }): Promise<void> {
          insertions += 1;
          const by = `${process} ${insertions}`;
          const result = await insert(by, documents)
            .catch(() => insert(by, documents))
            .catch((error: Error) => error);
          const failing = (message: string, code: number, result: object, writeErrors: readonly object[] = []) =>
            new MongoBulkWriteError({ message, code, writeErrors: writeErrors as never }, result as never);
          const accepted = { insertedCount: 0, getWriteConcernError: () => undefined };
          if (result instanceof Error) throw failing(result.message, 0, accepted);
          const { rejected, time, isConfirmed } = result;
          see(session, time);
          accepted.insertedCount = documents.length - rejected.length;
          if (!isConfirmed) throw failing('timed out', 64, { ...accepted, getWriteConcernError: () => ({}) });
          if (rejected.length === 0) return;
          const errors = rejected.map((index) => ({ index, code: DUPLICATE_KEY, errmsg: 'duplicate key' }));
          throw failing('duplicate key', DUPLICATE_KEY, accepted, errors);
        },
      };
      const queries = {
        /** The pets of idempotency keys. */
        find: ($or: readonly Condition[], session: Session) =>
          read('find', session, (stored) => {
            const isOf =
              ({ holder, key }: Entry) =>
              (each: Condition) =>
                holder === each['idempotency.holder'] && each['idempotency.key'].$in.includes(key);
            return stored.filter((entry) => $or.some(isOf(entry)));
          }),
        findHighest: (session: Session) =>
          read('find the highest id', session, (stored) => stored.toSorted((a, b) => b.id - a.id).slice(0, 1)),
      };
      const counters = {
        async findOneAndUpdate(_: object, { $inc }: { $inc: { last: bigint } }) {
          // At once: the order of reservations is not the subject.
          shared.counter += Number($inc.last);
          return { last: BigInt(shared.counter) };
        },
        updateOne: (_: object, { $max }: { $max: { last: bigint } }) =>
          world.command('raise', {
            run: () => Object.assign(shared, { counter: Math.max(shared.counter, Number($max.last)) }),
          }),
      };
      return {
        collection: (name: string) => (name === 'pets' ? pets : counters),
        async command({ filter }: { filter?: { $or: Condition[] } }, { session }: { session: Session }) {
          const found = await (filter === undefined ? queries.findHighest(session) : queries.find(filter.$or, session));
          const documents = found.map(({ id, holder, key, body }) => ({
            _id: BigInt(id),
            name: body,
            categoryId: 1n,
            ...(key !== null && { idempotency: { holder, key, fingerprint: body } }),
          }));
          return { cursor: { firstBatch: documents.map((document) => Buffer.from(BSON.serialize(document))) } };
        },
      } as unknown as Db;
    }

    const client = {
      withSession: <T>(_: object, work: (session: Session) => T) =>
        work({
          operationTime: undefined,
          advanceOperationTime(this: { operationTime?: Timestamp }, time: Timestamp) {
            if (this.operationTime === undefined || time.greaterThan(this.operationTime)) this.operationTime = time;
          },
        } as unknown as Session),
    } as MongoClient;

    const processes: Record<string, Insertions> = {};
    const creating = ({ create: insert }: Insertions, text: string) =>
      async function create(): Promise<void> {
        const { holder, key, body } = petOf(text);
        const name = key === null ? '' : nameOf({ holder, key });
        const idempotency = key === null ? {} : { idempotency: { holder, key, fingerprint: body } };
        const creation = await insert({ name: body, categoryId: 1n, ...idempotency }).catch((error: Error) => error);
        if (creation instanceof Error) {
          if ((creation as { code?: unknown }).code === DUPLICATE_KEY) throw new Error(`${text} is a duplicate key`);
          // The driver repeats an insertion once.
          const { losses, timeouts } = shared.failures;
          if (timeouts === 0 && losses + shared.term - 1 < 2) throw creation;
        } else if (creation === null) {
          shared.conflicts = [...shared.conflicts, { name, body }];
        } else {
          const { pet, created } = creation;
          if (pet.name !== body) throw new Error(`${text} got the pet ${pet.name}`);
          shared.pets = [...shared.pets, { name, id: Number(pet.id), body, created }];
        }
      };
    for (const [name, texts] of Object.entries(clients)) {
      const process = name.slice(-1);
      const db = databaseOf(process);
      processes[process] ??= createInsertions(db, createQuery(db, undefined), createFence(client), async () => {});
      const insertions = processes[process];
      const calls = texts.map((text) => creating(insertions, text));
      world.client(name, calls, { process });
    }

    const elect = (hasAll: boolean) => () => {
      shared.term += 1;
      if (!hasAll) shared.log = shared.log.slice(0, shared.committed);
      shared.hasOwn = false;
    };
    const election = { may: true, times: elections, can: () => shared.term <= elections };
    world.event('elect a primary that has all', { ...election, run: elect(true) });
    world.event('elect a primary that has what the majority has', { ...election, run: elect(false) });
    world.event('the new primary commits a write of its term', {
      times: elections,
      can: () => !shared.hasOwn,
      run: () => {
        shared.time += 1;
        shared.hasOwn = true;
        commit();
      },
    });
    world.finally(() => {
      const { pets, conflicts, log } = shared;
      for (const { name, id, body } of pets) {
        const isKept = log.some((entry) => entry.id === id && entry.body === body);
        if (!isKept) throw new Error(`the pet ${body} of "${name}" is lost`);
        if (name !== '' && pets.some((other) => other.name === name && other.id !== id)) {
          throw new Error(`two pets of "${name}"`);
        }
      }
      const created = pets.filter((pet) => pet.created);
      if (new Set(created.map(({ id }) => id)).size < created.length) throw new Error('a pet was created twice');
      for (const { name, body } of conflicts) {
        const isConflict = log.some((entry) => nameOf(entry) === name && entry.body !== body);
        if (!isConflict) throw new Error(`no other pet of ${name} than ${body}`);
      }
      const creations = Object.values(clients).flat();
      const expected = creations.filter((text) => text.startsWith('=')).length;
      const { losses, timeouts } = shared.failures;
      const keyless = log.filter(({ key, by }) => key === null && by !== 'restore').length;
      if (losses + timeouts === 0 && keyless !== expected) throw new Error(`${keyless} pets without a key`);
    });
  };

const trialOf = (title: string, sizes: Sizes, options: TrialOptions = {}) =>
  trial<Modules>(title, [URL_MODULE, INSERT, READ, FENCE], scenario(sizes), options);

await trialOf(
  'a creation and a conflict of two processes, an election',
  { clients: { 'first A': ['zoo k=Rex'], 'second B': ['zoo k=Max'] } },
  {
    errors: [
      ['a lookup does not wait for the majority', FENCE, 'session.advanceOperationTime(latest)', ''],
      ['another pet is no conflict', INSERT, 'found.fingerprint === keys[index]?.fingerprint ?', 'true ?'],
      ['a rolled back creation is not tried again', INSERT, 'MAX_TRIES = 3', 'MAX_TRIES = 1'],
    ],
  },
);
await trialOf(
  'a creation, a repetition and a conflict of two processes, an election',
  { clients: { 'first A': ['zoo k=Rex', 'zoo k=Rex'], 'second B': ['zoo k=Max'] } },
  { nightly: true },
);
await trialOf(
  'a creation and a repetition, a lost response, a timeout, an election',
  { clients: { 'first A': ['zoo k=Rex', 'zoo k=Rex'] }, losses: 1, timeouts: 1 },
  {
    errors: [
      ['an insertion that timed out is acknowledged', INSERT, 'isUnconfirmed || ', ''],
      ['a lost insertion is acknowledged', INSERT, 'rejected.length + failure.insertedCount !==', 'false &&'],
    ],
  },
);
await trialOf(
  'a restored pet, a creation and a conflict of two processes, an election',
  { clients: { 'first A': ['zoo k=Rex'], 'second B': ['zoo k=Max'] }, restored: ['=Ben'] },
  {
    errors: [
      [
        'the last rejection is not looked up',
        INSERT,
        'if (!isDuplicateKey(',
        'if (tried === MAX_TRIES || !isDuplicateKey(',
      ],
    ],
    errorsOnly: true,
    nightly: true,
  },
);
await trialOf('a creation and a conflict at once in one process', {
  clients: { 'first A': ['zoo k=Rex'], 'second A': ['zoo k=Max'] },
  elections: 0,
});
await trialOf(
  '12 restored pets, 2 creations',
  {
    clients: { 'first A': ['=Tom'], 'second A': ['zoo k=Rex'] },
    restored: Array(12).fill('=Ben'),
    elections: 0,
  },
  {
    errors: [
      ['the counter stays behind the restored pets', INSERT, 'await raiseCounter();', ''],
      ['ids of before are used after the counter was raised', INSERT, 'await ids.discard();', ''],
    ],
    errorsOnly: true,
  },
);
await trialOf(
  '2 repetitions of two holders',
  {
    clients: { 'first A': ['zoo k=Rex'], 'second A': ['farm k=Max'] },
    restored: ['zoo k=Rex', 'farm k=Max'],
    elections: 0,
  },
  { errors: [['holders share their keys', EARLIER, 'holder}`', 'key}`']] },
);

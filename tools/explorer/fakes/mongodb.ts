// A fake of a replica set, as the driver offers it to the modules of adapter-mongodb that create pets.
//
// The log is one list. `committed` is how much of it a majority has, as far as the primary knows. An election keeps the whole
// log, or that part, and adds an entry of its own term; until that one is committed, `committed` does not grow. An insertion is
// two commands: `insert` writes to the log, `confirm` waits for the majority.

import { BSON, type ClientSession, type Db, MongoBulkWriteError, type MongoClient, Timestamp } from 'mongodb';
import type { World } from '../src/world.ts';

/** An error's code: a unique index rejects a document. */
export const DUPLICATE_KEY = 11_000;

/** A pet as clients send it. */
export interface NewPet {
  readonly name: string;
  readonly categoryId: bigint;
  readonly idempotency?: { readonly holder: string; readonly key: string; readonly fingerprint: string };
}

/** The idempotency key of a pet with its holder, or '' for a pet without one. */
export const keyOf = ({ idempotency }: NewPet): string =>
  idempotency === undefined ? '' : `${idempotency.holder} ${idempotency.key}`;

interface StoredPet {
  readonly id: number;
  readonly pet: NewPet;
  /** The insertion that has written it, whatever its number of tries; null: it was restored. */
  readonly by: string | null;
}

/** A write in the log of a primary. */
interface Entry {
  /** The term of the primary that has written it. */
  readonly term: number;
  /** Null: the write with which a new primary begins its term. */
  readonly stored: StoredPet | null;
}

const petsOf = (log: readonly Entry[]): readonly StoredPet[] => log.flatMap(({ stored }) => stored ?? []);

export interface ReplicaSetOptions {
  /** Pets that were restored without the counter of ids. */
  readonly restored?: readonly NewPet[];
  /** How many responses to insertions may be lost. */
  readonly losses?: number;
  /** How many insertions may end before the majority has confirmed them. */
  readonly timeouts?: number;
  readonly elections?: number;
}

interface Inserted {
  /** The documents that the server has rejected, by their indexes. */
  readonly rejected: readonly number[];
  readonly isConfirmed: boolean;
  readonly time: Timestamp;
}

type Document = NewPet & { readonly _id: bigint };
type WithSession = { readonly session: ClientSession };

/** A part of the filter of a lookup. */
type Condition = Readonly<{ 'idempotency.holder': string; 'idempotency.key': { $in: readonly string[] } }>;

export function createReplicaSet(
  world: World,
  { restored = [], losses = 0, timeouts = 0, elections = 1 }: ReplicaSetOptions,
) {
  const values = {
    /** The number of elections. */
    term: 0,
    /** The writes that the primary has. */
    log: restored.map((pet, index): Entry => ({ term: 0, stored: { id: index + 1, pet, by: null } })),
    /** How many of them a majority has, as far as the primary knows. */
    committed: restored.length,
    /** The last id that was reserved. */
    counter: 0,
    losses: 0,
    timeouts: 0,
  };
  const allPets = () => petsOf(values.log);
  /** The time of the write at this length of the log. No other write has it, not even one that a new primary has dropped. */
  const timeAt = (length: number) => new Timestamp({ t: values.log[length - 1]?.term ?? 0, i: length });
  const hasCommittedOwn = () => timeAt(values.committed).t === values.term;
  const commit = () => {
    values.committed = values.log.length;
  };

  /** Writes what the primary's indexes allow, and returns the indexes of the other documents. */
  function write(by: string, documents: readonly Document[]): readonly number[] {
    const rejected: number[] = [];
    for (const [index, { _id, name, categoryId, idempotency }] of documents.entries()) {
      const pet = { name, categoryId, ...(idempotency && { idempotency }) };
      const stored = { id: Number(_id), pet, by: `${by}.${index}` };
      // The server knows the insertions of a repeated command.
      if (allPets().some((other) => other.by === stored.by)) continue;
      const isTaken = (other: StoredPet) =>
        other.id === stored.id || (idempotency !== undefined && keyOf(other.pet) === keyOf(pet));
      if (allPets().some(isTaken)) rejected.push(index);
      else values.log.push({ term: values.term, stored });
    }
    return rejected;
  }

  /** One try of the driver to insert. */
  async function insert(by: string, documents: readonly Document[]): Promise<Inserted> {
    const done = () => ({ rejected: write(by, documents), time: timeAt(values.log.length) });
    const lost = (): never => {
      values.losses += 1;
      write(by, documents);
      throw new Error('the response was lost');
    };
    const { rejected, time } = await world.command(
      'insert',
      values.losses < losses ? { done, 'response lost': lost } : done,
    );
    if (rejected.length === documents.length) return { rejected, time, isConfirmed: true };
    const confirmed = () => {
      if (values.term !== time.t) throw new Error('the primary has stepped down');
      commit();
      return true;
    };
    const late = () => {
      values.timeouts += 1;
      return false;
    };
    const isConfirmed = await world.command(
      'confirm',
      values.timeouts < timeouts ? { done: confirmed, 'times out': late } : confirmed,
      () => values.term !== time.t || hasCommittedOwn(),
    );
    return { rejected, time, isConfirmed };
  }

  /** Waits until a majority has what the session has met, and reads what a majority has. */
  function read(name: string, session: ClientSession, query: (all: readonly StoredPet[]) => readonly StoredPet[]) {
    const isBehind = () => session.operationTime?.greaterThan(timeAt(values.committed)) ?? false;
    const run = () => {
      if (isBehind()) commit();
      return query(petsOf(values.log.slice(0, values.committed)));
    };
    return world.command(name, run, () => !isBehind() || hasCommittedOwn());
  }

  /** The database as one process sees it. */
  function databaseOf(process: string): Db {
    let insertions = 0;
    const pets = {
      async insertMany(documents: readonly Document[], { session }: WithSession): Promise<void> {
        insertions += 1;
        const by = `${process} ${insertions}`;
        // The driver repeats an insertion once.
        const result = await insert(by, documents)
          .catch(() => insert(by, documents))
          .catch((error: Error) => bulkError(error.message, 0, 0));
        if (result instanceof Error) throw result;
        const { rejected, time, isConfirmed } = result;
        session.advanceOperationTime(time);
        const inserted = documents.length - rejected.length;
        if (!isConfirmed) throw bulkError('timed out', 64, inserted, [], false);
        if (rejected.length > 0) throw bulkError('duplicate key', DUPLICATE_KEY, inserted, rejected);
      },
    };
    const counters = {
      async findOneAndUpdate(_: object, { $inc }: { $inc: { last: bigint } }) {
        // At once: the order of reservations is not the subject.
        values.counter += Number($inc.last);
        return { last: BigInt(values.counter) };
      },
      updateOne: (_: object, { $max }: { $max: { last: bigint } }) =>
        world.command('raise', () => {
          values.counter = Math.max(values.counter, Number($max.last));
        }),
    };
    return {
      collection: (name: string) => (name === 'pets' ? pets : counters),
      async command({ filter }: { filter?: { $or: readonly Condition[] } }, { session }: WithSession) {
        const found =
          filter === undefined
            ? await read('find the highest id', session, (all) => all.toSorted((a, b) => b.id - a.id).slice(0, 1))
            : await read('find', session, (all) => all.filter(({ pet }) => filter.$or.some((each) => isOf(pet, each))));
        const documents = found.map(({ id, pet }) => ({ _id: BigInt(id), ...pet }));
        return { cursor: { firstBatch: documents.map((document) => Buffer.from(BSON.serialize(document))) } };
      },
    } as unknown as Db;
  }

  const elect = (hasAll: boolean) => () => {
    values.term += 1;
    const kept = hasAll ? values.log : values.log.slice(0, values.committed);
    values.log = [...kept, { term: values.term, stored: null }];
  };
  const election = { may: true, can: () => values.term < elections };
  world.event('elect a primary that has all', { ...election, run: elect(true) });
  world.event('elect a primary that has what the majority has', { ...election, run: elect(false) });
  world.event('the new primary commits a write of its term', { can: () => !hasCommittedOwn(), run: commit });

  const client = { withSession: <T>(_: object, work: (session: ClientSession) => T) => work(newSession()) };
  return { values, allPets, client: client as MongoClient, databaseOf };
}

function newSession(): ClientSession {
  const session = {
    operationTime: undefined as Timestamp | undefined,
    advanceOperationTime(time: Timestamp) {
      if (session.operationTime === undefined || time.greaterThan(session.operationTime)) session.operationTime = time;
    },
  };
  return session as unknown as ClientSession;
}

const isOf = ({ idempotency }: NewPet, { 'idempotency.holder': holder, 'idempotency.key': { $in } }: Condition) =>
  idempotency !== undefined && idempotency.holder === holder && $in.includes(idempotency.key);

function bulkError(
  message: string,
  code: number,
  insertedCount: number,
  rejected: readonly number[] = [],
  isConfirmed = true,
): MongoBulkWriteError {
  const writeErrors = rejected.map((index) => ({ index, code: DUPLICATE_KEY, errmsg: 'duplicate key' }));
  const result = { insertedCount, getWriteConcernError: () => (isConfirmed ? undefined : {}) };
  return new MongoBulkWriteError({ message, code, writeErrors: writeErrors as never }, result as never);
}

// A fake of a replica set, as the driver offers it to the modules of adapter-mongodb that create pets. Another primary has the
// writes of a majority, and may have those that were not confirmed.

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

/** A write in the log of the primary. */
export interface Entry {
  readonly id: number;
  readonly pet: NewPet;
  readonly time: number;
  /** The insertion that has written it, whatever its number of tries; null: it was restored. */
  readonly by: string | null;
}

export interface ReplicaSetOptions {
  /** Pets that were restored without the counter of ids. */
  readonly restored?: readonly NewPet[];
  /** How many responses to insertions may be lost. */
  readonly losses?: number;
  /** How many insertions may end before the majority has confirmed them. */
  readonly timeouts?: number;
  readonly elections?: number;
}

interface Values {
  /** The number of elections. */
  term: number;
  /** The writes that the primary has. */
  log: readonly Entry[];
  /** How many of them a majority has, as far as the primary knows, and the time of the last of these. */
  committed: number;
  committedTime: number;
  /** The time of the primary's log. */
  time: number;
  /** Whether the primary has committed a write of its own term. */
  hasOwn: boolean;
  /** The last id that was reserved. */
  counter: number;
  losses: number;
  timeouts: number;
}

/** The documents that a server has rejected, by their indexes. */
interface Inserted {
  readonly rejected: readonly number[];
  readonly isConfirmed: boolean;
  readonly time: number;
}

type Document = NewPet & { readonly _id: bigint };
type WithSession = { readonly session: ClientSession };

/** A part of the filter of a lookup. */
type Condition = Readonly<{ 'idempotency.holder': string; 'idempotency.key': { $in: readonly string[] } }>;

export function createReplicaSet(
  world: World,
  { restored = [], losses = 0, timeouts = 0, elections = 1 }: ReplicaSetOptions,
) {
  const values = world.shared<Values>({
    ...{ term: 0, log: restored.map((pet, index) => ({ id: index + 1, pet, time: 0, by: null })) },
    ...{ committed: restored.length, committedTime: 0, time: 0, hasOwn: true },
    ...{ counter: 0, losses: 0, timeouts: 0 },
  });

  function commit(): void {
    values.committed = values.log.length;
    values.committedTime = values.time;
  }

  /** Writes what the primary's indexes allow, and returns the indexes of the other documents. */
  function write(by: string, documents: readonly Document[]): readonly number[] {
    const rejected: number[] = [];
    for (const [index, { _id, name, categoryId, idempotency }] of documents.entries()) {
      const pet = { name, categoryId, ...(idempotency && { idempotency }) };
      const entry = { id: Number(_id), pet, by: `${by}.${index}` };
      // The server knows the insertions of a repeated command.
      if (values.log.some((other) => other.by === entry.by)) continue;
      const isTaken = (other: Entry) =>
        other.id === entry.id || (idempotency !== undefined && keyOf(other.pet) === keyOf(pet));
      if (values.log.some(isTaken)) rejected.push(index);
      else values.log = [...values.log, { ...entry, time: ++values.time }];
    }
    return rejected;
  }

  /** One try of the driver to insert. */
  async function insert(by: string, documents: readonly Document[]): Promise<Inserted> {
    const done = () => ({ rejected: write(by, documents), time: values.time, term: values.term });
    const lost = (): never => {
      values.losses += 1;
      write(by, documents);
      throw new Error('the response was lost');
    };
    const { rejected, time, term } = await world.command(
      'insert',
      values.losses < losses ? { done, 'response lost': lost } : done,
    );
    if (rejected.length === documents.length) return { rejected, time, isConfirmed: true };
    const confirmed = () => {
      if (values.term !== term) throw new Error('the primary has stepped down');
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
      () => values.term !== term || values.hasOwn,
    );
    return { rejected, time, isConfirmed };
  }

  /** Waits until a majority has what the session has met, and reads what a majority has. */
  function read(name: string, session: ClientSession, query: (entries: readonly Entry[]) => readonly Entry[]) {
    const fence = session.operationTime?.t ?? 0;
    const run = () => {
      if (values.committedTime < fence) commit();
      return query(values.log.slice(0, values.committed));
    };
    return world.command(name, run, () => values.committedTime >= fence || values.hasOwn);
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
        session.advanceOperationTime(new Timestamp({ t: time, i: 0 }));
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
            ? await read('find the highest id', session, (log) => log.toSorted((a, b) => b.id - a.id).slice(0, 1))
            : await read('find', session, (log) => log.filter(({ pet }) => filter.$or.some((each) => isOf(pet, each))));
        const documents = found.map(({ id, pet }) => ({ _id: BigInt(id), ...pet }));
        return { cursor: { firstBatch: documents.map((document) => Buffer.from(BSON.serialize(document))) } };
      },
    } as unknown as Db;
  }

  const elect = (hasAll: boolean) => () => {
    values.term += 1;
    if (!hasAll) values.log = values.log.slice(0, values.committed);
    values.hasOwn = false;
  };
  const election = { may: true, can: () => values.term < elections };
  world.event('elect a primary that has all', { ...election, run: elect(true) });
  world.event('elect a primary that has what the majority has', { ...election, run: elect(false) });
  world.event('the new primary commits a write of its term', {
    can: () => !values.hasOwn,
    run() {
      values.time += 1;
      values.hasOwn = true;
      commit();
    },
  });

  const client = { withSession: <T>(_: object, work: (session: ClientSession) => T) => work(newSession()) };
  return { values, client: client as MongoClient, databaseOf };
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

function isOf(
  { idempotency }: NewPet,
  { 'idempotency.holder': holder, 'idempotency.key': { $in } }: Condition,
): boolean {
  return idempotency !== undefined && idempotency.holder === holder && $in.includes(idempotency.key);
}

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

// A replica set, as the driver shows it to the modules of adapter-mongodb that create pets. An insertion is an entry of the
// primary's log, which a majority has a step later. A new primary has all of the log, or what a majority had of it.

import type { StoredPet } from '@animal-store/domain/ports';
import { BSON, type Db, MongoBulkWriteError, type MongoClient } from 'mongodb';
import type { World } from '../src/world.ts';

/** The code of an error: a unique index rejects a document. */
export const DUPLICATE_KEY = 11_000;

/** A pet as the adapter creates and stores it. */
export type NewPet = Omit<StoredPet, 'id' | 'createdAt'>;
type PetDocument = NewPet & { readonly _id: bigint; readonly createdAt: Date };

/** The pets that an insertion has written. It is compared by identity. */
type Entry = readonly PetDocument[];

interface InSession {
  /** The driver's session remembers a time of the log, this one the last entry at that time. */
  readonly session: { last?: Entry | undefined };
}

interface Find {
  readonly limit: number;
  /** Absent: the pets with the highest ids. */
  readonly filter?: { readonly $or: readonly Condition[] };
}
type Condition = Readonly<{ 'idempotency.holder': string; 'idempotency.key': { $in: readonly string[] } }>;

export interface ReplicaSetOptions {
  /** Pets that were restored without the counter of ids. */
  readonly restored?: readonly NewPet[];
  /** How many insertions may lose their response, or time out before a majority has them. */
  readonly failures?: number;
  readonly elections?: number;
}

export function createReplicaSet(world: World, { restored = [], failures = 0, elections = 0 }: ReplicaSetOptions) {
  const first: Entry = restored.map((pet, index) => ({ ...pet, _id: BigInt(index + 1), createdAt: new Date() }));
  const state = {
    log: [first] as readonly Entry[],
    /** What a majority has of the log. */
    majority: [first] as readonly Entry[],
    /** The last id that was reserved. */
    counter: 0n,
    failures: 0,
    elections: 0,
  };
  const pets = () => state.log.flat();
  /** Whether a majority has an entry, or no primary has it any more. */
  const isDecided = (entry: Entry) => state.majority.includes(entry) || !state.log.includes(entry);

  /** Writes the documents that the unique indexes allow. */
  function write(documents: readonly PetDocument[], { session }: InSession): Entry {
    const entry: PetDocument[] = [];
    for (const document of documents) {
      const isTaken = (other: PetDocument) => other._id === document._id || haveSameKey(other, document);
      if (![...pets(), ...entry].some(isTaken)) entry.push(document);
    }
    if (entry.length > 0) state.log = [...state.log, entry];
    session.last = state.log.at(-1);
    return entry;
  }

  async function insert(process: string, documents: readonly PetDocument[], options: InSession): Promise<void> {
    const done = () => write(documents, options);
    const failing = (errorOf: (entry: Entry) => Error) => () => {
      state.failures += 1;
      throw errorOf(done());
    };
    const outcomes = {
      done,
      'the response is lost': failing(() => bulkError('the response is lost', [], [])),
      'it times out': failing((entry) => bulkError('it times out', documents, entry, false)),
    };
    const entry = await world.command(`${process}: insert`, state.failures < failures ? outcomes : done);
    const confirm = () => {
      if (!state.majority.includes(entry)) throw bulkError('the primary has stepped down', [], []);
    };
    if (entry.length > 0) await world.command(`${process}: confirm`, confirm, () => isDecided(entry));
    if (entry.length < documents.length) throw bulkError('duplicate key', documents, entry);
  }

  async function find(process: string, { limit, filter }: Find, { session: { last } }: InSession) {
    const isFound = (pet: PetDocument) => filter === undefined || filter.$or.some((condition) => isOf(pet, condition));
    const run = () => state.majority.flat().filter(isFound);
    const found = await world.command(`${process}: find`, run, () => last === undefined || isDecided(last));
    const documents = found.sort((one, other) => Number(other._id - one._id)).slice(0, limit);
    return { cursor: { firstBatch: documents.map((document) => Buffer.from(BSON.serialize(document))) } };
  }

  /** The database as one process sees it. */
  function databaseOf(process: string): Db {
    const collection = {
      insertMany: (documents: readonly PetDocument[], options: InSession) => insert(process, documents, options),
    };
    // At once: the order of reservations is not the subject.
    const counters = {
      async findOneAndUpdate(_: object, { $inc }: { readonly $inc: { readonly last: bigint } }) {
        state.counter += $inc.last;
        return { last: state.counter };
      },
      async updateOne(_: object, { $max }: { readonly $max: { readonly last: bigint } }) {
        if (state.counter < $max.last) state.counter = $max.last;
      },
    };
    return {
      collection: (name: string) => (name === 'pets' ? collection : counters),
      command: (command: Find, options: InSession) => find(process, command, options),
    } as unknown as Db;
  }

  const elect = (log: () => readonly Entry[]) => ({
    may: true,
    can: () => state.elections < elections,
    run: () => {
      state.elections += 1;
      state.log = log();
    },
  });
  world.event(
    'elect a primary that has all',
    elect(() => state.log),
  );
  world.event(
    'elect a primary that has what the majority has',
    elect(() => state.majority),
  );
  world.event('the majority gets all', {
    can: () => state.majority.length < state.log.length,
    run: () => {
      state.majority = state.log;
    },
  });

  const client = { withSession: <T>(_: object, work: (session: object) => T) => work({}) };
  return { state, pets, client: client as unknown as MongoClient, databaseOf };
}

export const haveSameKey = ({ idempotency: one }: NewPet, { idempotency: other }: NewPet): boolean =>
  one !== undefined && one.holder === other?.holder && one.key === other.key;

const isOf = ({ idempotency }: NewPet, { 'idempotency.holder': holder, 'idempotency.key': { $in } }: Condition) =>
  idempotency !== undefined && idempotency.holder === holder && $in.includes(idempotency.key);

/**
 * The driver's error for an insertion of which the server stored only `entry`. Without documents it accounts for none, as after a
 * lost response.
 */
function bulkError(message: string, documents: readonly PetDocument[], entry: Entry, isConfirmed = true) {
  const rejected = [...documents.entries()].filter(([, document]) => !entry.includes(document));
  const writeErrors = rejected.map(([index]) => ({ index, code: DUPLICATE_KEY, errmsg: 'duplicate key' }));
  const result = { insertedCount: entry.length, getWriteConcernError: () => (isConfirmed ? undefined : {}) };
  return new MongoBulkWriteError({ message, code: 0, writeErrors: writeErrors as never }, result as never);
}

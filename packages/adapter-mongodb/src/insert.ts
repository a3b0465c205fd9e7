import { createBatches, type Limits } from '@animal-store/adapter-kit';
import { type Creation, type Idempotency, idempotencyNameOf } from '@animal-store/domain/ports';
import {
  type ClientSession,
  type Collection,
  type Db,
  type Document,
  type Filter,
  MongoBulkWriteError,
  MongoServerError,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import { decodeDocument, decodePet, type NewDocument, type PetDocument, petOf, type Query } from './documents.ts';
import { isDuplicateKey } from './failures.ts';
import { createIds } from './ids.ts';
import { operationTime, TIME_LIMITS } from './limits.ts';
import type { Write } from './write.ts';

/** As many pets as the server writes to its log in one step: 2 MB at most, a fraction of a message. */
const MAX_INSERTED = 500;

/** How many insertions may be in flight: one is a third faster, two shorten the wait if the majority is far away. */
const PARALLEL_INSERTIONS = 2;

/** How often a creation is tried: ids that are taken, and earlier creations that were rolled back, are rare. */
const MAX_TRIES = 3;

/** A new pet in a batch. */
interface Attempt {
  readonly pet: NewDocument;
  /** `taken`: its id, or its idempotency key by a pet that was not found. */
  state: 'taken' | 'inserted' | 'found' | 'rejected';
  /** Of the call, as far as it is known. null: the idempotency key stands for another pet. */
  result: Creation | null | Error;
}

export type Insertions = ReturnType<typeof createInsertions>;

/** Creates and restores pets. Fails with the driver's errors. */
export function createInsertions(db: Db, query: Query, write: Write) {
  const pets = db.collection<PetDocument>('pets');
  const ids = createIds(db);

  /** Group commit: one write, which the majority confirms once, stores all pets that come while insertions are in flight. */
  const create = createBatches<NewDocument, Creation | null>(
    (batch, limits) => write(limits, (session) => createAll(batch, session, limits)),
    { maxItems: MAX_INSERTED, parallel: PARALLEL_INSERTIONS, maxWait: TIME_LIMITS.batch },
  );

  /**
   * | the server's result for a pet                    | state    | result of the call                                        |
   * | ------------------------------------------------ | -------- | --------------------------------------------------------- |
   * | inserted                                         | inserted | created                                                   |
   * | duplicate key; a pet has the idempotency key     | found    | that pet, or null                                         |
   * | duplicate key; no pet has it, or there is no key | taken    | tried again under a higher id; at last the error          |
   * | rejected by the schema                           | rejected | the error                                                 |
   * | unknown; or a further step fails                 | taken    | the error                                                 |
   */
  async function createAll(batch: readonly NewDocument[], session: ClientSession, limits: Limits) {
    const attempts = batch.map((pet): Attempt => ({ pet, state: 'taken', result: null }));
    const taken = () => attempts.filter(({ state }) => state === 'taken');
    try {
      for (let tried = 0; tried < MAX_TRIES && taken().length > 0; tried += 1) {
        if (tried > 0) await raiseCounter(session, limits);
        await insertNew(taken(), session, limits);
        await findEarlier(taken(), session, limits);
      }
    } catch (failure) {
      for (const attempt of taken()) attempt.result = failure as Error;
    }
    return attempts.map(({ result }) => result);
  }

  /** Inserts pets under new ids. */
  async function insertNew(attempts: readonly Attempt[], session: ClientSession, limits: Limits): Promise<void> {
    // As late as possible, so that ids are stored nearly in order.
    const first = await ids.take(attempts.length, session, limits);
    const createdAt = new Date();
    const documents = attempts.map(({ pet }, index) => ({ _id: first + BigInt(index), ...pet, createdAt }));
    const errors = await insertAll(pets, documents, limits, session);
    for (const [index, attempt] of attempts.entries()) {
      const document = documents[index] as PetDocument;
      const error = errors.get(document);
      if (error === undefined) attempt.state = 'inserted';
      else if (!isDuplicateKey(error)) attempt.state = 'rejected';
      attempt.result = error ?? { pet: petOf(document), created: true };
    }
  }

  /** Finds what was created earlier under idempotency keys, by one query. */
  async function findEarlier(attempts: readonly Attempt[], session: ClientSession, limits: Limits): Promise<void> {
    const keys = attempts.flatMap(({ pet }) => pet.idempotency ?? []);
    if (keys.length === 0) return;
    const documents = await query(keys.length, { filter: { $or: rangesOf(keys) } }, limits, session);
    const earlier = new Map(
      documents.map(decodeDocument).map((pet) => [idempotencyNameOf(pet.idempotency as Idempotency), pet]),
    );
    for (const attempt of attempts) {
      const { idempotency } = attempt.pet;
      const found = idempotency && earlier.get(idempotencyNameOf(idempotency));
      if (found === undefined) continue;
      const isSame = found.idempotency?.fingerprint === idempotency?.fingerprint;
      attempt.state = 'found';
      attempt.result = isSame ? { pet: petOf(found), created: false } : null;
    }
  }

  /** Raises the counter to the highest stored id: it is behind if pets were restored without it. */
  async function raiseCounter(session: ClientSession, limits: Limits): Promise<void> {
    const [highest] = await query(1, { sort: { _id: -1 } }, limits, session);
    if (highest !== undefined) await ids.raiseTo(decodePet(highest).id, session, limits);
  }

  /** Restores pets, and leaves out those whose id or idempotency key is stored. */
  async function restore(documents: readonly PetDocument[], limits: Limits): Promise<void> {
    const last = documents.at(-1);
    if (last === undefined) return;
    await write(limits, async (session) => {
      // Before the pets: a call that is interrupted may have stored them.
      await ids.raiseTo(last._id, session, limits);
      const errors = await insertAll(pets, documents, limits, session);
      if (errors.size > 0) await requireStored(errors, session, limits);
    });
  }

  /** Throws the error of a pet whose id and idempotency key are not stored: an index of an administrator, or the schema. */
  async function requireStored(
    errors: ReadonlyMap<PetDocument, Error>,
    session: ClientSession,
    limits: Limits,
  ): Promise<void> {
    const rejected = [...errors.keys()];
    const filter = { _id: { $in: rejected.map(({ _id }) => _id) } };
    const ids = new Set((await query(rejected.length, { filter }, limits, session)).map((pet) => decodePet(pet).id));
    const missing = [...errors]
      .filter(([{ _id }]) => !ids.has(_id))
      .map(([pet, result]): Attempt => ({ pet, state: 'taken', result }));
    await findEarlier(missing, session, limits);
    for (const { state, result } of missing) if (state === 'taken') throw result;
  }

  const skipIds = (lastId: bigint, limits: Limits): Promise<void> =>
    write(limits, (session) => ids.raiseTo(lastId, session, limits));

  return { create, restore, lastId: ids.last, skipIds };
}

/**
 * Inserts documents. Returns the server's errors of those that it rejected. Throws unless every document is either inserted or
 * rejected: otherwise we don't know which exist.
 */
export async function insertAll<D extends Document>(
  collection: Collection<D>,
  documents: readonly OptionalUnlessRequiredId<D>[],
  limits: Limits,
  session: ClientSession,
) {
  const maxTimeMS = operationTime(limits);
  const errors = new Map<OptionalUnlessRequiredId<D>, MongoServerError>();
  try {
    await collection.insertMany(documents, {
      ordered: false,
      ignoreUndefined: true,
      session,
      maxTimeMS,
    });
  } catch (failure) {
    if (!(failure instanceof MongoBulkWriteError)) throw failure;
    // One WriteError or several, none of which is an Error.
    const rejected = [failure.writeErrors].flat();
    // If the majority's confirmation is missing too, or a response was lost, not all of them are accounted for.
    const isUnconfirmed = failure.result.getWriteConcernError() !== undefined;
    if (isUnconfirmed || rejected.length + failure.insertedCount !== documents.length) throw failure;
    for (const { index, code, errmsg: message = '' } of rejected)
      errors.set(documents[index] as OptionalUnlessRequiredId<D>, new MongoServerError({ message, code }));
  }
  return errors;
}

/** One range of the index for each holder. */
function rangesOf(keys: readonly Idempotency[]): Filter<PetDocument>[] {
  const byHolder = new Map<string, string[]>();
  for (const { holder, key } of keys) byHolder.set(holder, [...(byHolder.get(holder) ?? []), key]);
  return [...byHolder].map(([holder, $in]) => ({ 'idempotency.holder': holder, 'idempotency.key': { $in } }));
}

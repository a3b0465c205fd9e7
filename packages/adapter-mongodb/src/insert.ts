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
import { requireTime, TIME_LIMITS } from './limits.ts';
import type { Write } from './write.ts';

/** As many pets as the server writes to its log in one step: 2 MB at most, a fraction of a message. */
const MAX_INSERTED = 500;

/** How many insertions may be in flight: one is a third faster, two shorten the wait if the majority is far away. */
const PARALLEL_INSERTIONS = 2;

/** How often a creation is tried: ids that are taken, and earlier creations that were rolled back, are rare. */
const MAX_TRIES = 3;

/** The latest outcome of each creation, by the object of the new pet. null: its idempotency key stands for another pet. */
type Outcomes = Map<NewDocument, Creation | null | Error>;

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
   * | outcome of a try                                 | result for the pet                                          |
   * | ------------------------------------------------ | ----------------------------------------------------------- |
   * | inserted                                         | created                                                     |
   * | duplicate key; a pet has the idempotency key     | that pet, or null                                           |
   * | duplicate key; no pet has it, or there is no key | tried again under a higher id; after the last try the error |
   * | rejected by the schema                           | the error                                                   |
   * | unknown; or a further step fails                 | the error, for all that are left; others stay created       |
   */
  async function createAll(batch: readonly NewDocument[], session: ClientSession, limits: Limits) {
    const outcomes: Outcomes = new Map();
    const isRejected = (pet: NewDocument) => isDuplicateKey(outcomes.get(pet));
    /** If a step throws, they get its error, and the others keep their outcomes. */
    let undecided = batch;
    try {
      for (let tried = 1; undecided.length > 0 && tried <= MAX_TRIES; tried += 1) {
        if (tried > 1) await raiseCounter(session, limits);
        const errors = await insertNew(undecided, outcomes, session, limits);
        if (errors === 0) break;
        undecided = undecided.filter(isRejected);
        await findEarlier(undecided, outcomes, session, limits);
        undecided = undecided.filter(isRejected);
      }
    } catch (failure) {
      for (const pet of undecided) outcomes.set(pet, failure as Error);
    }
    return batch.map((pet) => outcomes.get(pet) as Creation | null | Error);
  }

  /** Inserts pets under new ids. Returns how many the server has rejected. */
  async function insertNew(
    undecided: readonly NewDocument[],
    outcomes: Outcomes,
    session: ClientSession,
    limits: Limits,
  ): Promise<number> {
    // As late as possible, so that ids are stored nearly in order.
    const first = await ids.take(undecided.length, session, limits);
    const createdAt = new Date();
    const documents = undecided.map((pet, index) => ({ _id: first + BigInt(index), ...pet, createdAt }));
    const errors = await insertAll(pets, documents, limits, session);
    for (const [index, document] of documents.entries()) {
      outcomes.set(undecided[index] as NewDocument, errors.get(document) ?? { pet: petOf(document), created: true });
    }
    return errors.size;
  }

  /** Finds what was created earlier under the idempotency keys of rejected pets, by one query. */
  async function findEarlier(
    rejected: readonly NewDocument[],
    outcomes: Outcomes,
    session: ClientSession,
    limits: Limits,
  ): Promise<void> {
    const keys = rejected.flatMap(({ idempotency }) => idempotency ?? []);
    if (keys.length === 0) return;
    const documents = await query(keys.length, { filter: { $or: rangesOf(keys) } }, limits, session);
    const earlier = new Map(
      documents.map(decodeDocument).map((pet) => [idempotencyNameOf(pet.idempotency as Idempotency), pet]),
    );
    for (const pet of rejected) {
      const found = pet.idempotency && earlier.get(idempotencyNameOf(pet.idempotency));
      if (found === undefined) continue;
      const isSame = found.idempotency?.fingerprint === pet.idempotency?.fingerprint;
      outcomes.set(pet, isSame ? { pet: petOf(found), created: false } : null);
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
    const outcomes: Outcomes = new Map();
    await findEarlier(rejected, outcomes, session, limits);
    for (const [pet, error] of errors) if (!ids.has(pet._id) && !outcomes.has(pet)) throw error;
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
  const maxTimeMS = requireTime(limits);
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

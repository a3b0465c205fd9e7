import { createBatches } from '@animal-store/adapter-kit';
import type { Pet } from '@animal-store/domain';
import type { Creation } from '@animal-store/domain/ports';
import { type ClientSession, type Collection, type Db, MongoBulkWriteError, MongoServerError } from 'mongodb';
import { createCounter } from './counter.ts';
import { decodePet, type NewDocument, type PetDocument, petOf } from './documents.ts';
import { findEarlierPets } from './earlier.ts';
import { isDuplicateKey } from './failures.ts';
import type { Fence } from './fence.ts';
import { createIds } from './ids.ts';
import type { Query } from './read.ts';
import { TIME_LIMITS } from './url.ts';

/** As many pets as the server writes to its log in one step: 2 MB at most, a fraction of a message. */
const MAX_INSERTED = 500;

/** How many insertions may be in flight: one is a third faster, two shorten the wait if the majority is far away. */
const PARALLEL_INSERTIONS = 2;

/** How often a creation is tried: ids that are taken, and earlier creations that were rolled back, are rare. */
const MAX_TRIES = 3;

/**
 * Creates and restores pets. Fails with the driver's errors.
 *
 * @param checkWritable Rejects if the collections are not those that were opened: an insertion would create a missing one.
 */
export function createInsertions(db: Db, query: Query, fence: Fence, checkWritable: () => Promise<void>) {
  const pets = db.collection<PetDocument>('pets');
  const counter = createCounter(db);
  const ids = createIds(counter.reserve);
  const { batch: timeout } = TIME_LIMITS;

  async function create(pet: NewDocument): Promise<Creation | null> {
    for (let tried = 1; ; tried += 1) {
      try {
        return { pet: await insert(pet), created: true };
      } catch (failure) {
        if (!isDuplicateKey(failure)) throw failure;
        const outcome = await resolveDuplicate(pet);
        if (outcome !== 'try again') return outcome;
        if (tried === MAX_TRIES) throw failure;
      }
    }
  }

  /** Group commit: one write, which the majority confirms once, stores all pets that come while insertions are in flight. */
  const insert = createBatches<NewDocument, Pet>(
    async (batch) => {
      await checkWritable();
      // Ids are assigned as late as possible, so that ids are stored nearly in order.
      const taken = await ids.take(batch.length);
      const createdAt = new Date();
      const documents = batch.map((pet, index) => ({ _id: taken[index] as bigint, ...pet, createdAt }));
      return fence.write((session) => insertAll(pets, documents, session));
    },
    { maxItems: MAX_INSERTED, parallel: PARALLEL_INSERTIONS, timeout },
  );

  /**
   * The outcome of a creation that a unique index rejected. The driver does not say which: if its idempotency key has no pet, its
   * id was taken. One query at a time, so that a client may repeat thousands.
   *
   * | pet of the idempotency key | outcome                                            |
   * | -------------------------- | -------------------------------------------------- |
   * | has the same fingerprint   | that pet                                           |
   * | has another fingerprint    | null                                               |
   * | none                       | 'try again', with an id above those of stored pets |
   */
  const resolveDuplicate = createBatches<NewDocument, Creation | null | 'try again'>(
    async (rejected) => {
      const keys = rejected.map(({ idempotency }) => idempotency);
      const earlier = await findEarlierPets(query, fence, keys);
      if (earlier.includes(undefined)) await raiseCounter();
      return earlier.map((found, index) => {
        if (found === undefined) return 'try again';
        return found.fingerprint === keys[index]?.fingerprint ? { pet: found.pet, created: false } : null;
      });
    },
    { maxItems: MAX_INSERTED, timeout },
  );

  /** Raises the counter to the highest stored id: it is behind if pets were restored without it. */
  async function raiseCounter(): Promise<void> {
    const [highest] = await fence.read((session) => query(1, { sort: { _id: -1 } }, session));
    if (highest !== undefined) await counter.raiseTo(decodePet(highest).id);
    await ids.discard();
  }

  async function restore(documents: readonly PetDocument[]): Promise<void> {
    await checkWritable();
    for (let done = 0; done < documents.length; done += MAX_INSERTED) {
      const some = documents.slice(done, done + MAX_INSERTED);
      const outcomes = await fence.write((session) => insertAll(pets, some, session));
      const defect = outcomes.find((outcome) => outcome instanceof Error && !isDuplicateKey(outcome));
      if (defect !== undefined) throw defect;
    }
    return raiseCounter();
  }

  return { create, restore };
}

/**
 * Inserts pets. Returns each of them, or the server's error if it was rejected, in their order. Throws unless every document
 * is either inserted or rejected: otherwise we don't know which exist.
 */
async function insertAll(pets: Collection<PetDocument>, documents: readonly PetDocument[], session: ClientSession) {
  const outcomes: (Pet | MongoServerError)[] = documents.map(petOf);
  try {
    await pets.insertMany(documents, {
      ordered: false,
      ignoreUndefined: true,
      session,
      maxTimeMS: TIME_LIMITS.operation,
    });
  } catch (failure) {
    if (!(failure instanceof MongoBulkWriteError)) throw failure;
    const rejected = [failure.writeErrors].flat();
    // If the majority's confirmation is missing too, or a response was lost, not all of them are accounted for.
    const isUnconfirmed = failure.result.getWriteConcernError() !== undefined;
    if (isUnconfirmed || rejected.length + failure.insertedCount !== documents.length) throw failure;
    // The driver's WriteError is no Error.
    for (const { index, code, errmsg = '' } of rejected) {
      outcomes[index] = new MongoServerError({ message: errmsg, code });
    }
  }
  return outcomes;
}

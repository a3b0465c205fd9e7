import { createBatches } from '@animal-store/adapter-kit';
import type { Pet } from '@animal-store/domain';
import type { Creation, Idempotency } from '@animal-store/domain/ports';
import {
  BSON,
  type ClientSession,
  type Collection,
  type Db,
  type Filter,
  MongoBulkWriteError,
  MongoServerError,
} from 'mongodb';
import { decodePet, type NewDocument, type PetDocument, petOf } from './documents.ts';
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

/** The last id that was reserved in a collection. */
export interface CounterDocument {
  readonly _id: 'pets';
  /** An int64, which is read as a number. */
  readonly last: bigint | number;
}

/**
 * Creates and restores pets. Fails with the driver's errors.
 *
 * @param checkWritable Rejects if the collections are not those that were opened: an insertion would create a missing one.
 */
export function createInsertions(db: Db, query: Query, fence: Fence, checkWritable: () => Promise<void>) {
  const pets = db.collection<PetDocument>('pets');
  const counters = db.collection<CounterDocument>('counters');
  const counter = { _id: 'pets' } as const;
  const { batch: timeout, operation: maxTimeMS } = TIME_LIMITS;

  const ids = createIds(async (count) => {
    const increment = { $inc: { last: BigInt(count) } };
    const options = { upsert: true, returnDocument: 'after', maxTimeMS } as const;
    const { last } = (await counters.findOneAndUpdate(counter, increment, options)) as CounterDocument;
    return BigInt(last);
  });

  /** Group commit: one write, which the majority confirms once, stores all pets that come while insertions are in flight. */
  const insert = createBatches<NewDocument, Pet>(
    async (batch) => {
      await checkWritable();
      // Ids are assigned as late as possible, so that ids are stored nearly in order.
      const taken = await ids.take(batch.length);
      const createdAt = new Date();
      const documents = batch.map((pet, index) => ({ _id: taken[index] as bigint, ...pet, createdAt }));
      const rejections = await fence.write((session) => insertAll(pets, documents, session));
      return documents.map((document, index) => rejections.get(index) ?? petOf(document));
    },
    { maxItems: MAX_INSERTED, parallel: PARALLEL_INSERTIONS, timeout },
  );

  /**
   * Finds the pets under whose idempotency keys creations were rejected. If one of them has none, its id was taken: the
   * counter is raised. One query at a time, so that a client may repeat thousands. undefined: try again. null: the key stands
   * for another pet.
   */
  const resolveDuplicates = createBatches<NewDocument, Creation | null | undefined>(
    async (rejected) => {
      const keys = rejected.flatMap(({ idempotency }) => idempotency ?? []);
      const documents =
        keys.length === 0
          ? []
          : await fence.read((session) => query(keys.length, { filter: { $or: rangesOf(keys) } }, session));
      const earlier = new Map(
        documents.map((bytes) => {
          const { idempotency } = BSON.deserialize(bytes) as Pick<PetDocument, 'idempotency'>;
          return [nameOf(idempotency), { fingerprint: idempotency?.fingerprint, pet: decodePet(bytes) }];
        }),
      );
      if (rejected.some(({ idempotency }) => !earlier.has(nameOf(idempotency)))) await raiseCounter();
      return rejected.map(({ idempotency }) => {
        const found = earlier.get(nameOf(idempotency));
        if (found === undefined) return undefined;
        return found.fingerprint === idempotency?.fingerprint ? { pet: found.pet, created: false } : null;
      });
    },
    { maxItems: MAX_INSERTED, timeout },
  );

  /** Raises the counter to the highest stored id: it is behind if pets were restored without it. */
  async function raiseCounter(): Promise<void> {
    const [highest] = await fence.read((session) => query(1, { sort: { _id: -1 } }, session));
    if (highest !== undefined) {
      const last = decodePet(highest).id;
      await counters.updateOne(counter, { $max: { last } }, { upsert: true, maxTimeMS });
    }
    await ids.discard();
  }

  return {
    async create(pet: NewDocument): Promise<Creation | null> {
      for (let tried = 1; ; tried += 1) {
        try {
          return { pet: await insert(pet), created: true };
        } catch (failure) {
          if (!isDuplicateKey(failure)) throw failure;
          // The driver does not say which index rejected the document.
          const earlier = await resolveDuplicates(pet);
          if (earlier !== undefined) return earlier;
          if (tried === MAX_TRIES) throw failure;
        }
      }
    },

    async restore(documents: readonly PetDocument[]): Promise<void> {
      await checkWritable();
      for (let done = 0; done < documents.length; done += MAX_INSERTED) {
        const some = documents.slice(done, done + MAX_INSERTED);
        const rejections = await fence.write((session) => insertAll(pets, some, session));
        const defect = [...rejections.values()].find((rejection) => !isDuplicateKey(rejection));
        if (defect !== undefined) throw defect;
      }
      return raiseCounter();
    },
  };
}

/**
 * Returns the server's errors by the indexes of the documents that it rejected; all others are stored. Throws unless every
 * document is either inserted or rejected: otherwise we don't know which exist.
 */
async function insertAll(pets: Collection<PetDocument>, documents: readonly PetDocument[], session: ClientSession) {
  try {
    await pets.insertMany(documents, { ordered: false, session, maxTimeMS: TIME_LIMITS.operation });
    return new Map<number, MongoServerError>();
  } catch (failure) {
    if (!(failure instanceof MongoBulkWriteError)) throw failure;
    const rejected = [failure.writeErrors].flat();
    // If the majority's confirmation is missing too, or a response was lost, not all of them are accounted for.
    const isUnconfirmed = failure.result.getWriteConcernError() !== undefined;
    if (isUnconfirmed || rejected.length + failure.insertedCount !== documents.length) throw failure;
    return new Map(
      rejected.map(({ index, code, errmsg = '' }) => [index, new MongoServerError({ message: errmsg, code })]),
    );
  }
}

/** One range of the index for each holder. */
function rangesOf(keys: readonly Idempotency[]): Filter<PetDocument>[] {
  const byHolder = new Map<string, string[]>();
  for (const { holder, key } of keys) byHolder.set(holder, [...(byHolder.get(holder) ?? []), key]);
  return [...byHolder].map(([holder, $in]) => ({ 'idempotency.holder': holder, 'idempotency.key': { $in } }));
}

/** Holder and key, or '' for a pet without them. A key contains no space: the first one ends it. */
function nameOf(idempotency: Idempotency | undefined): string {
  return idempotency === undefined ? '' : `${idempotency.key} ${idempotency.holder}`;
}

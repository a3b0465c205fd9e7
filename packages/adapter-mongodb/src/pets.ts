import { createBatches, type Resource, readPages } from '@animal-store/adapter-kit';
import type { Pet, PetStatus } from '@animal-store/domain';
import type { Creation, Idempotency, PetArchive, PetSelection, PetStore, StoredPet } from '@animal-store/domain/ports';
import {
  BSON,
  type ClientSession,
  type Db,
  type Document,
  type Filter,
  MongoBulkWriteError,
  MongoServerError,
  type UUID,
} from 'mongodb';
import { TIME_LIMITS } from './client.ts';
import type { Database } from './connection.ts';
import type { Fence } from './consistency.ts';
import { decodePet, readDocuments, valuesOf } from './documents.ts';
import { isDuplicateKey } from './failures.ts';
import { createIds } from './ids.ts';
import { BY_STATUS } from './schema.ts';

/** As many pets as the server writes to its log in one step: 2 MB at most, a fraction of a message. */
const MAX_INSERTED = 500;

/** How many insertions may be in flight: one is a third faster, two shorten the wait if the majority is far away. */
const PARALLEL_INSERTIONS = 2;

/** How often a creation is tried: ids that are taken, and earlier creations that were rolled back, are rare. */
const MAX_TRIES = 3;

/** How many pets one query looks up at most: up to 2.5 megabytes, a fraction of what one response may hold. */
const MAX_IDS = 1_000;

/** How many calls share a batch of pages at most. */
const MAX_SELECTIONS = 200;

/** How many pages one command reads at most: together up to 2.5 megabytes. */
const MAX_PAGES = 8;

/** A pet as it is stored. A bigint is an int64; one outside its range would be cut to 64 bits silently. */
export interface PetDocument {
  readonly _id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  /** Absent if none was given: undefined would be stored as null. */
  readonly status?: PetStatus;
  readonly createdAt: Date;
  /** The idempotency key that it was created with, if any: one write stores both or neither. */
  readonly idempotency?: Idempotency;
}

type NewDocument = Omit<PetDocument, '_id' | 'createdAt'>;

/** The last id that was reserved in a collection. */
export interface CounterDocument {
  readonly _id: 'pets';
  /** An int64, which is read as a number. */
  readonly last: bigint | number;
}

export type PetOperations = ReturnType<typeof createPetOperations>;

interface PetOperationsOptions extends Pick<Database, 'barrier' | 'checkWritable'> {
  /** Reads of another collection, or of none, fail. Otherwise they would find nothing. */
  readonly collectionUUID: UUID | undefined;
  readonly fence: Fence;
}

/** The combined calls of one open database. They fail with the driver's errors. */
export function createPetOperations(db: Db, { collectionUUID, fence, barrier, checkWritable }: PetOperationsOptions) {
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

  const query = (limit: number, options: Document, session?: ClientSession) =>
    readDocuments(
      db,
      { find: 'pets', collectionUUID, ...options, limit, batchSize: limit, singleBatch: true },
      session,
    );

  /** Group commit: one write, which the majority confirms once, stores all pets that come while insertions are in flight. */
  const insert = createBatches<NewDocument, Pet>(
    async (batch) => {
      await checkWritable();
      // Ids are assigned as late as possible, so that ids are stored nearly in order.
      const taken = await ids.take(batch.length);
      const createdAt = new Date();
      const documents = batch.map((pet, index) => ({ _id: taken[index] as bigint, ...pet, createdAt }));
      const rejections = await fence.write((session) => insertAll(documents, session));
      return documents.map((document, index) => rejections.get(index) ?? petOf(document));
    },
    { maxItems: MAX_INSERTED, parallel: PARALLEL_INSERTIONS, timeout },
  );

  /** The server's errors by the indexes of the documents that it rejected; all others are stored. Rejects if that is not known. */
  async function insertAll(documents: readonly PetDocument[], session: ClientSession) {
    try {
      await pets.insertMany(documents, { ordered: false, session, maxTimeMS });
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

  /**
   * Finds the pets under whose idempotency keys creations were rejected. If one of them has none, its id was taken: the
   * counter is raised. One query at a time, so that a client may repeat thousands.
   */
  const findEarlier = createBatches<NewDocument, Creation | null | undefined>(
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

  /** Reads several pages by one command, which costs the server less than a command for each. */
  async function pagesOf(selections: readonly PetSelection[]): Promise<Pet[][]> {
    const [only, ...more] = selections;
    if (only !== undefined && more.length === 0) {
      return [(await query(only.limit, rangeOf(only))).map(decodePet)];
    }
    const lookups = selections.map((selection, index) => {
      const { filter, sort } = rangeOf(selection);
      const pipeline = [{ $match: filter }, { $sort: sort }, { $limit: selection.limit }];
      return { $lookup: { from: 'pets', pipeline, as: String(index) } };
    });
    // The server compares no UUID for `$documents`: the first pet, if there is one, gives the lookups a place.
    const pipeline = [{ $limit: 1 }, { $replaceWith: {} }, ...lookups];
    const [pages] = await readDocuments(db, {
      aggregate: 'pets',
      collectionUUID,
      pipeline,
      hint: { _id: 1 },
      cursor: {},
    });
    return pages === undefined
      ? selections.map(() => [])
      : valuesOf(pages).map((page) => valuesOf(page).map(decodePet));
  }

  return {
    async create(pet: NewDocument): Promise<Creation | null> {
      for (let tried = 1; ; tried += 1) {
        try {
          return { pet: await insert(pet), created: true };
        } catch (failure) {
          if (!isDuplicateKey(failure)) throw failure;
          // The driver does not say which index rejected the document.
          const earlier = await findEarlier(pet);
          if (earlier !== undefined) return earlier;
          if (tried === MAX_TRIES) throw failure;
        }
      }
    },

    find: createBatches<bigint, Pet | null>(
      (wanted) =>
        barrier(async () => {
          const [only, ...more] = new Set(wanted);
          // The server has a shorter way to one.
          const _id = more.length === 0 ? only : { $in: [only, ...more] };
          const found = (await query(1 + more.length, { filter: { _id } })).map(decodePet);
          const byId = new Map(found.map((pet) => [pet.id, pet]));
          return wanted.map((id) => byId.get(id) ?? null);
        }),
      { maxItems: MAX_IDS, timeout },
    ),

    list: createBatches<PetSelection, readonly Pet[]>(
      (selections) =>
        barrier(() =>
          readPages(selections, async (longest) => {
            const commands: Promise<Pet[][]>[] = [];
            for (let done = 0; done < longest.length; done += MAX_PAGES) {
              commands.push(pagesOf(longest.slice(done, done + MAX_PAGES)));
            }
            return (await Promise.all(commands)).flat();
          }),
        ),
      { maxItems: MAX_SELECTIONS, timeout },
    ),

    archive: {
      read: (after: bigint, limit: number) =>
        barrier(async () => (await query(limit, rangeOf({ after, limit }))).map(storedPetOf)),

      async restore(given: readonly StoredPet[]): Promise<void> {
        await checkWritable();
        for (let done = 0; done < given.length; done += MAX_INSERTED) {
          const documents = given.slice(done, done + MAX_INSERTED).map(({ id, createdAt, idempotency, ...pet }) => ({
            ...{ _id: id, ...pet, createdAt: new Date(createdAt) },
            ...(idempotency && { idempotency }),
          }));
          const rejections = await fence.write((session) => insertAll(documents as PetDocument[], session));
          const defect = [...rejections.values()].find((rejection) => !isDuplicateKey(rejection));
          if (defect !== undefined) throw defect;
        }
        return raiseCounter();
      },
    },
  };
}

function storedPetOf(document: Buffer): StoredPet {
  const { createdAt, idempotency } = BSON.deserialize(document) as Pick<PetDocument, 'createdAt' | 'idempotency'>;
  return { ...decodePet(document), createdAt: createdAt.getTime(), ...(idempotency && { idempotency }) };
}

export function createMongoArchive({ call }: Resource<{ readonly pets: PetOperations }>): PetArchive {
  return {
    read: (after, limit) => call(({ pets }) => pets.archive.read(after, limit)),
    restore: (given) => call(({ pets }) => pets.archive.restore(given)),
  };
}

export function createMongoPetStore({ call }: Resource<{ readonly pets: PetOperations }>): PetStore {
  return {
    add: ({ name, categoryId, status }, idempotency) =>
      call(({ pets }) =>
        pets.create({ name, categoryId, ...(status && { status }), ...(idempotency && { idempotency }) }),
      ),

    find: (id) => call(({ pets }) => pets.find(id)),

    list: (selection) => call(({ pets }) => pets.list(selection)),
  };
}

function petOf({ _id, name, categoryId, status }: PetDocument): Pet {
  return status === undefined ? { id: _id, name, categoryId } : { id: _id, name, categoryId, status };
}

/** Where a page is. The order names the whole index of pages by status: a `$lookup` can't have a hint. */
function rangeOf({ status, after }: PetSelection) {
  const sort = status === undefined ? ({ _id: 1 } as const) : BY_STATUS;
  return { filter: { ...(status && { status }), _id: { $gt: after } }, sort, hint: sort };
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

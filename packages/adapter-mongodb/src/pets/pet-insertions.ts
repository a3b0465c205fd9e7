import { type BatchWork, createBatches, type IdBlocks } from '@animal-store/adapter-kit';
import type { Pet } from '@animal-store/domain';
import { type BulkWriteOptions, type Collection, MongoBulkWriteError, MongoServerError } from 'mongodb';
import type { Fence } from '../connection/fence.ts';
import type { TimeLimits } from '../time-limits.ts';
import { type PetDocument, type PetWithoutId, petOf } from './pet-document.ts';

/** How many insertions may be in flight: one is a third faster, two shorten the wait if the majority is far away. */
const PARALLEL = 2;

/** As many pets as the server writes to its log in one step: 2 MB at most, a fraction of a message. */
export const MAX_INSERTED = 500;

/**
 * Stores a pet under a new id. Rejects with the server's error if the server rejected this pet alone (see `isDuplicateKey`),
 * with MongoBulkWriteError or another error of the driver if it is not known whether it is stored.
 */
export type InsertPet = (pet: PetWithoutId) => Promise<Pet>;

/** Group commit: one write, which the majority confirms once, stores all pets that come while insertions are in flight. */
export function createPetInsertions(
  pets: Collection<PetDocument>,
  { ids, fence, limits }: { ids: IdBlocks; fence: Fence; limits: TimeLimits },
): InsertPet {
  const insertAll: BatchWork<PetWithoutId, Pet> = async (batch) => {
    // Ids are assigned as late as possible, so that ids are stored nearly in order.
    const taken = await ids.take(batch.length);
    const documents = batch.map((pet, index): PetDocument => ({ _id: taken[index] as bigint, ...pet }));
    const rejections = await fence.write((session) =>
      insert(pets, documents, { session, maxTimeMS: limits.operation }),
    );
    return documents.map((document, index) => rejections.get(index) ?? petOf(document));
  };
  return createBatches(insertAll, { maxItems: MAX_INSERTED, parallel: PARALLEL, timeout: limits.batch });
}

/** The server's errors by the indexes of the documents that it rejected; all others are stored. Rejects if that is not known. */
async function insert(
  pets: Collection<PetDocument>,
  documents: readonly PetDocument[],
  options: BulkWriteOptions,
): Promise<ReadonlyMap<number, MongoServerError>> {
  try {
    await pets.insertMany(documents, { ordered: false, ...options });
    return new Map();
  } catch (failure) {
    if (!(failure instanceof MongoBulkWriteError)) throw failure;
    const rejected = [failure.writeErrors].flat();
    // If the majority's confirmation is missing too, or a response was lost, not all of them are accounted for.
    const unconfirmed = failure.result.getWriteConcernError() !== undefined;
    if (unconfirmed || rejected.length + failure.insertedCount !== documents.length) throw failure;
    return new Map(
      rejected.map(({ index, code, errmsg }) => [index, new MongoServerError({ message: errmsg ?? '', code })]),
    );
  }
}

import type { Pet } from '@animal-store/domain';
import { type Collection, MongoBulkWriteError, MongoServerError } from 'mongodb';
import { type BatchWork, createBatches, MAX_WAITING } from './batches.ts';
import type { Connection } from './connection.ts';
import type { IdBlocks } from './id-blocks.ts';
import { type PetDocument, type PetWithoutId, petOf } from './pet-document.ts';
import type { TimeLimits } from './time-limits.ts';

/** How many insertions may be under way at once: one is a third faster, two shorten the wait where the majority is far. */
const PARALLEL = 2;

/** How many animals are inserted at once: as many as the server makes one step of its log. */
const MAX_ANIMALS = 500;

/** How long all texts of a batch are at most, in UTF-16 code units: a fraction of what one message may carry. */
const MAX_LENGTH = 1_000_000;

/**
 * Group commit: animals that come while insertions are under way are stored together, by one write that the majority
 * confirms once.
 *
 * @returns Stores an animal under a new id. Rejects with the server's error where it refused that animal alone (see
 * `isDuplicateKey`), with DomainError `storage_unavailable` where it is not known whether it is stored.
 */
export function createPetInsertions(
  connection: Connection,
  ids: IdBlocks,
  limits: TimeLimits,
): (animal: PetWithoutId) => Promise<Pet> {
  const insertAll: BatchWork<PetWithoutId, Pet> = (animals) =>
    connection.call(async ({ pets }) => {
      const documents: PetDocument[] = [];
      // Ids are taken this late so that no animal waits with an id that others leave behind.
      for (const animal of animals) documents.push({ _id: await ids.take(), ...animal });
      const refusals = await insert(pets, documents, limits);
      return (_, index) => {
        const refusal = refusals.get(index);
        if (refusal !== undefined) throw refusal;
        return petOf(documents[index] as PetDocument);
      };
    });
  return createBatches(insertAll, {
    parallel: PARALLEL,
    maxItems: MAX_ANIMALS,
    maxWeight: MAX_LENGTH,
    weigh: ({ name, addition }) =>
      name.length +
      (addition === undefined ? 0 : addition.holder.length + addition.key.length + addition.fingerprint.length),
    maxWaiting: MAX_WAITING,
    patience: limits.batch,
  });
}

/** What refused each document that is not stored, by its index; all others are. Rejects where that is not known. */
async function insert(
  pets: Collection<PetDocument>,
  documents: readonly PetDocument[],
  limits: TimeLimits,
): Promise<ReadonlyMap<number, MongoServerError>> {
  try {
    await pets.insertMany(documents, { ordered: false, maxTimeMS: limits.operation });
    return new Map();
  } catch (failure) {
    if (!(failure instanceof MongoBulkWriteError)) throw failure;
    const refused = [failure.writeErrors].flat();
    // Where the majority's confirmation is missing too, or an answer was lost, not all of them are accounted for.
    const unconfirmed = failure.result.getWriteConcernError() !== undefined;
    if (unconfirmed || refused.length + failure.insertedCount !== documents.length) throw failure;
    return new Map(
      refused.map(({ index, code, errmsg }) => [index, new MongoServerError({ message: errmsg ?? '', code })]),
    );
  }
}

import { createBatches, createIdBlocks } from '@animal-store/adapter-kit';
import type { MonotonicClock } from '@animal-store/domain';
import type { Creation, Idempotency } from '@animal-store/domain/ports';
import type { Filter } from 'mongodb';
import { isDuplicateKey } from '../connection/failures.ts';
import type { Fence } from '../connection/fence.ts';
import { int64Of } from '../connection/int64.ts';
import type { TimeLimits } from '../time-limits.ts';
import { createIdCounter, type IdCollections } from './id-counter.ts';
import { type PetDocument, type PetWithoutId, petOf } from './pet-document.ts';
import { createPetInsertions, MAX_INSERTED } from './pet-insertions.ts';

/** How often a creation is tried: ids that are taken, and earlier creations that were rolled back, are rare. */
const MAX_TRIES = 3;

/** Creates pets, each idempotency key once. */
export function createPetCreation(
  collections: IdCollections,
  { fence, limits, clock }: { fence: Fence; limits: TimeLimits; clock: MonotonicClock },
): (pet: PetWithoutId) => Promise<Creation | null> {
  const { pets } = collections;
  const counter = createIdCounter(collections, fence, limits);
  const ids = createIdBlocks({ reserve: counter.reserve, clock });
  const insert = createPetInsertions(pets, { ids, fence, limits });

  /**
   * Finds the pets under whose idempotency keys creations were rejected. If one of them has none, its id was taken: the
   * counter is raised. One query at a time, so that a client may repeat thousands.
   */
  const findEarlier = createBatches<PetWithoutId, PetDocument | undefined>(
    async (rejected) => {
      const creations = rejected.flatMap(({ idempotency }) => idempotency ?? []);
      const found = new Map<string, PetDocument>();
      if (creations.length > 0) {
        const limit = creations.length;
        const options = { limit, batchSize: limit, singleBatch: true, maxTimeMS: limits.operation };
        const documents = await fence.read((session) =>
          pets.find(createdBy(creations), { ...options, session }).toArray(),
        );
        for (const document of documents) found.set(nameOf(document), document);
      }
      if (rejected.some((pet) => !found.has(nameOf(pet)))) {
        await counter.raise();
        ids.discard();
      }
      return rejected.map((pet) => found.get(nameOf(pet)));
    },
    { maxItems: MAX_INSERTED, timeout: limits.batch },
  );

  return async (pet) => {
    for (let tried = 1; ; tried += 1) {
      try {
        return { pet: await insert(pet), created: true };
      } catch (failure) {
        if (!isDuplicateKey(failure)) throw failure;
        // The driver does not say which index rejected the document.
        const earlier = await findEarlier(pet);
        if (earlier === undefined) {
          if (tried === MAX_TRIES) throw failure;
          continue;
        }
        if (earlier.idempotency?.fingerprint !== pet.idempotency?.fingerprint) return null;
        const { _id, categoryId, ...rest } = earlier;
        return { pet: petOf({ ...rest, _id: int64Of(_id), categoryId: int64Of(categoryId) }), created: false };
      }
    }
  };
}

/** A filter with one range of the index for each holder. */
function createdBy(creations: readonly Idempotency[]): Filter<PetDocument> {
  const keys = new Map<string, string[]>();
  for (const { holder, key } of creations) {
    const ofHolder = keys.get(holder);
    if (ofHolder === undefined) keys.set(holder, [key]);
    else ofHolder.push(key);
  }
  return { $or: [...keys].map(([holder, $in]) => ({ 'idempotency.holder': holder, 'idempotency.key': { $in } })) };
}

/** Holder and key, or '' for a pet without them. A key contains no space: the first one ends it. */
function nameOf({ idempotency }: Pick<PetDocument, 'idempotency'>): string {
  return idempotency === undefined ? '' : `${idempotency.key} ${idempotency.holder}`;
}

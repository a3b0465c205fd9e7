import { createBatches, createIdBlocks } from '@animal-store/batching';
import type { MonotonicClock } from '@animal-store/domain';
import type { Creation } from '@animal-store/domain/ports';
import { isDuplicateKey } from '../connection/failures.ts';
import type { Fence } from '../connection/fence.ts';
import type { TimeLimits } from '../time-limits.ts';
import { createEarlierCreations } from './earlier-creations.ts';
import { createIdCounter, type IdCollections } from './id-counter.ts';
import type { PetWithoutId } from './pet-document.ts';
import { createPetInsertions } from './pet-insertions.ts';

/** How often a creation is tried: ids that are taken, and earlier creations that were rolled back, are rare. */
const MAX_TRIES = 3;

/** Creates pets, each idempotency key once. */
export function createPetCreation(
  collections: IdCollections,
  { fence, limits, clock }: { fence: Fence; limits: TimeLimits; clock: MonotonicClock },
): (pet: PetWithoutId) => Promise<Creation | null> {
  const { pets } = collections;
  const counter = createIdCounter(collections, limits);
  const ids = createIdBlocks({ reserve: counter.reserve, clock });
  const insert = createPetInsertions(pets, { ids, fence, limits });
  const findEarlier = createEarlierCreations(pets, fence, limits);

  // All pets of a batch meet taken ids at once.
  const raiseCounter = createBatches<void, void>(
    async () => {
      await counter.raise();
      ids.discard();
      return () => {};
    },
    { parallel: 1, maxItems: Number.POSITIVE_INFINITY, maxWait: limits.batch },
  );

  return async (pet) => {
    for (let tried = 1; ; tried += 1) {
      try {
        return { pet: await insert(pet), created: true };
      } catch (failure) {
        if (!isDuplicateKey(failure) || tried === MAX_TRIES) throw failure;
        // The driver does not say which index rejected the document.
        const earlier = pet.idempotency && (await findEarlier(pet.idempotency));
        if (earlier !== undefined) return earlier && { pet: earlier, created: false };
        await raiseCounter();
      }
    }
  };
}

import { createBatches } from '@animal-store/batching';
import type { Pet } from '@animal-store/domain';
import type { Idempotency } from '@animal-store/domain/ports';
import type { Collection, Filter } from 'mongodb';
import type { Fence } from '../connection/fence.ts';
import { int64Of } from '../connection/int64.ts';
import type { TimeLimits } from '../time-limits.ts';
import { type PetDocument, petOf } from './pet-document.ts';

/** How many creations one query looks up at most: as many as one insertion may have rejected. */
const MAX_CREATIONS = 500;

/** The greatest length of all holders and keys of a query, in UTF-16 code units: a fraction of what a message may hold. */
const MAX_LENGTH = 1_000_000;

/**
 * Finds the pets that repeated creations have created before: one query at a time, so that a client may repeat thousands.
 *
 * @param fence The one behind which the insertions were rejected.
 * @returns Finds the pet that is stored under holder and key; null if it is another one, undefined if there is none (any more).
 */
export function createEarlierCreations(
  pets: Collection<PetDocument>,
  fence: Fence,
  { operation, batch }: TimeLimits,
): (create: Idempotency) => Promise<Pet | null | undefined> {
  return createBatches<Idempotency, Pet | null | undefined>(
    async (creations) => {
      const limit = creations.length;
      const options = { limit, batchSize: limit, singleBatch: true, maxTimeMS: operation };
      const documents = await fence.read((session) =>
        pets.find(createdBy(creations), { ...options, session }).toArray(),
      );
      const found = new Map(documents.map((document) => [nameOf(document.idempotency), document]));
      return (creation) => {
        const document = found.get(nameOf(creation));
        if (document === undefined) return undefined;
        if (document.idempotency?.fingerprint !== creation.fingerprint) return null;
        return petOf({ ...document, _id: int64Of(document._id), categoryId: int64Of(document.categoryId) });
      };
    },
    {
      parallel: 1,
      maxItems: MAX_CREATIONS,
      maxWeight: MAX_LENGTH,
      weigh: ({ holder, key }) => holder.length + key.length,
      maxWait: batch,
    },
  );
}

/** For each holder a range of the index. */
function createdBy(creations: readonly Idempotency[]): Filter<PetDocument> {
  const keys = new Map<string, string[]>();
  for (const { holder, key } of creations) {
    const ofHolder = keys.get(holder);
    if (ofHolder === undefined) keys.set(holder, [key]);
    else ofHolder.push(key);
  }
  return { $or: [...keys].map(([holder, $in]) => ({ 'idempotency.holder': holder, 'idempotency.key': { $in } })) };
}

/** A key contains no space: the first one ends it. */
function nameOf(creation: Pick<Idempotency, 'holder' | 'key'> | undefined): string {
  return `${creation?.key} ${creation?.holder}`;
}

import { LIMITS, type Pet } from '@animal-store/domain';
import type { PetSelection } from '@animal-store/domain/ports';
import type { Collection } from 'mongodb';
import { createBatches, MAX_WAITING } from '../batching/batches.ts';
import { createKeyedBatches } from '../batching/keyed-batches.ts';
import type { ReadBarrier } from '../connection/read-barrier.ts';
import type { TimeLimits } from '../time-limits.ts';
import { BY_STATUS, type PetDocument, petOf } from './pet-document.ts';

/** The members of a document that make a Pet. */
const PET_MEMBERS = { name: 1, categoryId: 1, status: 1 } as const;

/** How many pets one read looks up by their ids. */
const MAX_IDS = 1_000;

/** The longest page that others wait for: the largest of the interface, and the pet that shows that there is a next one. */
const MAX_SHARED_LIMIT = LIMITS.page.max + 1;

export interface PetReads {
  /** @param id Within the range of int64. */
  find(id: bigint): Promise<Pet | null>;
  list(selection: PetSelection): Promise<readonly Pet[]>;
}

/**
 * Reads of pets, collapsed: what is asked for while a read of its kind is in flight is read together once that has
 * returned. A pet by its id goes with all others, a page with those that begin at the same place of the same list.
 */
export function createPetReads(pets: Collection<PetDocument>, barrier: ReadBarrier, limits: TimeLimits): PetReads {
  const bounded = { maxTimeMS: limits.operation };
  const oneAtATime = { parallel: 1, maxWaiting: MAX_WAITING, maxWait: limits.batch };

  const find = createBatches(
    (ids: readonly bigint[]) =>
      barrier(async () => {
        const wanted = [...new Set(ids)];
        const options = { projection: PET_MEMBERS, limit: wanted.length, batchSize: wanted.length, ...bounded };
        // The server has a shorter way to one.
        const [only] = wanted.length === 1 ? wanted : [];
        const documents = await pets.find({ _id: only ?? { $in: wanted } }, options).toArray();
        const found = new Map(documents.map((document) => [document._id, petOf(document)]));
        return (id: bigint) => found.get(id) ?? null;
      }),
    { ...oneAtATime, maxItems: MAX_IDS },
  );

  const list = createKeyedBatches(
    ({ status, after, limit }: PetSelection) => `${status} ${after} ${limit > MAX_SHARED_LIMIT ? limit : 'shared'}`,
    (selections) =>
      barrier(async () => {
        const { status, after } = selections[0] as PetSelection;
        const limit = Math.max(...selections.map((selection) => selection.limit));
        const page = { projection: PET_MEMBERS, sort: { _id: 1 }, limit, batchSize: limit, ...bounded } as const;
        const behind = { _id: { $gt: after } };
        const documents =
          status === undefined
            ? pets.find(behind, page)
            : pets.find({ status, ...behind }, { ...page, hint: BY_STATUS });
        const found = (await documents.toArray()).map(petOf);
        return (selection) => found.slice(0, selection.limit);
      }),
    { ...oneAtATime, maxItems: MAX_WAITING },
  );

  return { find, list };
}

import { LIMITS } from '@animal-store/domain';
import type { PetSelection, PetStore } from '@animal-store/domain/ports';
import { createBatches, MAX_WAITING } from './batches.ts';
import type { Connection } from './connection.ts';
import { createKeyedBatches } from './keyed-batches.ts';
import { BY_STATUS, petOf } from './pet-document.ts';
import type { TimeLimits } from './time-limits.ts';

/** The members of a document that make a Pet. */
const PET_MEMBERS = { name: 1, categoryId: 1, status: 1 } as const;

/** How many animals one read looks for by their ids. */
const MAX_IDS = 1_000;

/** The longest page that others wait for: the largest of the interface, and the animal that tells of a next one. */
const MAX_SHARED_LIMIT = LIMITS.page.max + 1;

/**
 * Reads of animals, collapsed: what is asked for while a read of its kind is under way is read together once that has
 * returned. An animal by its id goes with all others, a page with those that begin at the same place of the same list.
 */
export function createPetReads(connection: Connection, limits: TimeLimits): Pick<PetStore, 'find' | 'list'> {
  const bounded = { maxTimeMS: limits.operation };
  const oneAtATime = { parallel: 1, maxWaiting: MAX_WAITING, patience: limits.batch };

  const findTogether = createBatches(
    (ids: readonly bigint[]) =>
      connection.read(async ({ pets }) => {
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

  const listTogether = createKeyedBatches(
    ({ status, after, limit }: PetSelection) => `${status} ${after} ${limit > MAX_SHARED_LIMIT ? limit : 'shared'}`,
    (selections) =>
      connection.read(async ({ pets }) => {
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

  return {
    async find(id) {
      if (id < LIMITS.id.min || id > LIMITS.id.max) return null;
      // This limit is the caller's own: it counts the wait for those before.
      return connection.call(() => findTogether(id));
    },

    async list(selection) {
      if (selection.after >= LIMITS.id.max) return [];
      return connection.call(() => listTogether(selection));
    },
  };
}

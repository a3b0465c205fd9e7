import { LIMITS, type Pet } from '@animal-store/domain';
import type { PetSelection } from '@animal-store/domain/ports';
import type { Db, Document } from 'mongodb';
import { createBatches, MAX_WAITING } from '../batching/batches.ts';
import { createKeyedBatches } from '../batching/keyed-batches.ts';
import { findRaw } from '../connection/raw-find.ts';
import type { ReadBarrier } from '../connection/read-barrier.ts';
import type { TimeLimits } from '../time-limits.ts';
import { createPetCache } from './pet-cache.ts';
import { BY_STATUS, PET_COLLECTION } from './pet-document.ts';

/** The members of a document that make a Pet. */
const PET_MEMBERS = { name: 1, categoryId: 1, status: 1 } as const;

/** How many pets one query returns at most: about a megabyte, a fraction of what one response may hold. */
const MAX_PETS = 1_000;

/** The longest page that others wait for: the largest of the interface, and the pet that shows that there is a next one. */
const MAX_SHARED_LIMIT = LIMITS.page.max + 1;

const MAX_CACHE_BYTES = 32 * 1024 * 1024;

export interface PetReads {
  /** @param id Within the range of int64. */
  find(id: bigint): Promise<Pet | null>;
  list(selection: PetSelection): Promise<readonly Pet[]>;
}

/**
 * Combined reads of pets: calls that come while a read of their kind is in flight share the next one. Any pets that are
 * read by id are of one kind; pages are, if they begin at the same place of the same list.
 */
export function createPetReads(db: Db, barrier: ReadBarrier, limits: TimeLimits): PetReads {
  const petIn = createPetCache(MAX_CACHE_BYTES);
  const oneAtATime = { parallel: 1, maxWaiting: MAX_WAITING, maxWait: limits.batch };

  async function query(filter: Document, limit: number, options: Document = {}): Promise<Pet[]> {
    const documents = await findRaw(db, {
      find: PET_COLLECTION.name,
      filter,
      projection: PET_MEMBERS,
      limit,
      maxTimeMS: limits.operation,
      ...options,
    });
    return documents.map((document) => petIn(document));
  }

  function queryPage({ status, after, limit }: PetSelection): Promise<Pet[]> {
    const filter = { _id: { $gt: after } };
    const sort = { _id: 1 };
    return status === undefined
      ? query(filter, limit, { sort })
      : query({ status, ...filter }, limit, { sort, hint: BY_STATUS });
  }

  const find = createBatches(
    (ids: readonly bigint[]) =>
      barrier(async () => {
        const wanted = [...new Set(ids)];
        // The server has a shorter way to one.
        const [only] = wanted.length === 1 ? wanted : [];
        const pets = await query({ _id: only ?? { $in: wanted } }, wanted.length);
        const found = new Map(pets.map((pet) => [pet.id, pet]));
        return (id: bigint) => found.get(id) ?? null;
      }),
    { ...oneAtATime, maxItems: MAX_PETS },
  );

  const list = createKeyedBatches(
    ({ status, after, limit }: PetSelection) => `${status} ${after} ${limit > MAX_SHARED_LIMIT ? limit : 'shared'}`,
    (selections) =>
      barrier(async () => {
        const { status, after } = selections[0] as PetSelection;
        const limit = Math.max(...selections.map((selection) => selection.limit));
        const pets: Pet[] = [];
        for (let full = true; full && pets.length < limit; ) {
          const wanted = Math.min(limit - pets.length, MAX_PETS);
          const page = await queryPage({ status, after: pets.at(-1)?.id ?? after, limit: wanted });
          pets.push(...page);
          full = page.length === wanted;
        }
        return (selection) => pets.slice(0, selection.limit);
      }),
    { ...oneAtATime, maxItems: MAX_WAITING },
  );

  return { find, list };
}

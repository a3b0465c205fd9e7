import { createBatches } from '@animal-store/batching';
import { LIMITS, type Pet } from '@animal-store/domain';
import type { PetSelection } from '@animal-store/domain/ports';
import type { Db, Document } from 'mongodb';
import { findAllRaw, findRaw, type Query } from '../connection/raw-reads.ts';
import type { ReadBarrier } from '../connection/read-barrier.ts';
import type { TimeLimits } from '../time-limits.ts';
import { createPetDecoder } from './pet-decoder.ts';
import { BY_STATUS, PET_COLLECTION } from './pet-document.ts';

/** The members of a document that make a Pet. */
const PET_MEMBERS = { name: 1, categoryId: 1, status: 1 } as const;

/** How many pets one query returns at most: about a megabyte, a fraction of what one response may hold. */
const MAX_PETS = 1_000;

/** The longest page that shares a command: the largest of the interface, and the pet that shows that there is a next one. */
const MAX_SHARED_LIMIT = LIMITS.page.max + 1;

/** How many pages one command reads at most: together fewer than {@link MAX_PETS}. */
const MAX_PAGES = 8;

/** How many calls share a batch of pages at most: 25 commands at once, if all pages begin at different places. */
const MAX_SELECTIONS = 200;

const MAX_CACHE_BYTES = 32 * 1024 * 1024;

export interface PetReads {
  /** @param id Within the range of int64. */
  find(id: bigint): Promise<Pet | null>;
  list(selection: PetSelection): Promise<readonly Pet[]>;
}

/**
 * Combined reads of pets: calls that come while a read of their kind is in flight share the next one. Pets that are read
 * by id are of one kind, pages of another.
 */
export function createPetReads(db: Db, barrier: ReadBarrier, limits: TimeLimits): PetReads {
  const decodePet = createPetDecoder(MAX_CACHE_BYTES);
  const oneAtATime = { parallel: 1, maxWait: limits.batch };

  const query = (filter: Document, limit: number) =>
    ({ filter, projection: PET_MEMBERS, limit, maxTimeMS: limits.operation }) satisfies Query;

  async function run(one: Query): Promise<Pet[]> {
    return (await findRaw(db, PET_COLLECTION.name, one)).map(decodePet);
  }

  const find = createBatches(
    (ids: readonly bigint[]) =>
      barrier(async () => {
        const wanted = [...new Set(ids)];
        // The server has a shorter way to one.
        const [only] = wanted.length === 1 ? wanted : [];
        const pets = await run(query({ _id: only ?? { $in: wanted } }, wanted.length));
        const found = new Map(pets.map((pet) => [pet.id, pet]));
        return (id: bigint) => found.get(id) ?? null;
      }),
    { ...oneAtATime, maxItems: MAX_PETS },
  );

  /** The order names the whole index of pages by status: in several queries of one command no hint can. */
  const pageQuery = ({ status, after, limit }: PetSelection) =>
    status === undefined
      ? { ...query({ _id: { $gt: after } }, limit), sort: { _id: 1 } }
      : { ...query({ status, _id: { $gt: after } }, limit), sort: BY_STATUS };

  function readPage(selection: PetSelection): Promise<Pet[]> {
    const page = pageQuery(selection);
    return run(selection.status === undefined ? page : { ...page, hint: BY_STATUS });
  }

  async function readPages(selections: readonly PetSelection[]): Promise<Pet[][]> {
    const [only, ...more] = selections;
    if (only !== undefined && more.length === 0) return [await readPage(only)];
    const pages = await findAllRaw(db, PET_COLLECTION.name, selections.map(pageQuery));
    return pages.map((page) => page.map(decodePet));
  }

  const sharedPage = createBatches(
    (selections: readonly PetSelection[]) =>
      barrier(async () => {
        const longest = new Map<string, PetSelection>();
        for (const selection of selections) {
          const key = pageKey(selection);
          if (selection.limit > (longest.get(key)?.limit ?? 0)) longest.set(key, selection);
        }
        // A failure of a command is that of its own pages only.
        const reads = inGroups([...longest.values()], MAX_PAGES).flatMap((group) => {
          const command = readPages(group);
          return group.map(async (_, index) => (await command)[index] as Pet[]);
        });
        const results = await Promise.allSettled(reads);
        const pages = new Map([...longest.keys()].map((key, index) => [key, results[index]]));
        return (selection: PetSelection) => {
          const page = pages.get(pageKey(selection)) as PromiseSettledResult<Pet[]>;
          if (page.status === 'rejected') throw page.reason;
          return page.value.slice(0, selection.limit);
        };
      }),
    { ...oneAtATime, maxItems: MAX_SELECTIONS },
  );

  async function longPage({ status, after, limit }: PetSelection): Promise<Pet[]> {
    const pets: Pet[] = [];
    for (let full = true; full && pets.length < limit; ) {
      const wanted = Math.min(limit - pets.length, MAX_PETS);
      const page = await barrier(() => readPage({ status, after: pets.at(-1)?.id ?? after, limit: wanted }));
      pets.push(...page);
      full = page.length === wanted;
    }
    return pets;
  }

  return { find, list: (selection) => (selection.limit > MAX_SHARED_LIMIT ? longPage : sharedPage)(selection) };
}

/** Pages of the same list that begin behind the same pet are parts of the longest of them. */
function pageKey({ status, after }: PetSelection): string {
  return `${status} ${after}`;
}

/** Splits items into groups of at most so many. */
function inGroups<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, group) =>
    items.slice(group * size, (group + 1) * size),
  );
}

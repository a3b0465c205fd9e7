import { createBatches } from '@animal-store/adapter-kit';
import { LIMITS, type Pet } from '@animal-store/domain';
import type { PetSelection } from '@animal-store/domain/ports';
import type { Db, Document } from 'mongodb';
import { readRaw, valuesOf } from '../connection/raw-reads.ts';
import type { ReadBarrier } from '../connection/read-barrier.ts';
import type { TimeLimits } from '../time-limits.ts';
import { createDocumentDecoder } from './document-decoder.ts';
import { BY_STATUS, PET_COLLECTION } from './pet-document.ts';

/** All members of a document but its idempotency key, which would fill the cache. */
const PET_MEMBERS = { name: 1, categoryId: 1, status: 1 } as const;

/** How many pets one query looks up at most: up to 2.5 megabytes, a fraction of what one response may hold. */
const MAX_IDS = 1_000;

/** The largest page of the interface, and the pet that shows that there is a next one. Longer pages are read in parts. */
const MAX_LIMIT = LIMITS.page.max + 1;

/** How many pages one command reads at most: together up to a megabyte. */
const MAX_PAGES = 8;

/** How many calls share a batch of pages at most: 25 commands at once, if all pages begin at different places. */
const MAX_SELECTIONS = 200;

const MAX_CACHE_BYTES = 32 * 1024 * 1024;

export interface PetReads {
  find(id: bigint): Promise<Pet | null>;
  list(selection: PetSelection): Promise<readonly Pet[]>;
}

/**
 * Combined reads of pets: calls that come while a read of their kind is in flight share the next one. Pets that are read
 * by id are of one kind, pages of another.
 */
export function createPetReads(db: Db, barrier: ReadBarrier, limits: TimeLimits): PetReads {
  const decodePet = createDocumentDecoder(MAX_CACHE_BYTES);
  const { batch: timeout } = limits;
  const bounded = { maxTimeMS: limits.operation };

  async function query(limit: number, options: Document): Promise<Pet[]> {
    const inOneBatch = { limit, batchSize: limit, singleBatch: true };
    return (await readRaw(db, { find: PET_COLLECTION.name, ...options, ...inOneBatch, ...bounded })).map(decodePet);
  }

  const find = createBatches(
    (ids: readonly bigint[]) =>
      barrier(async () => {
        const wanted = [...new Set(ids)];
        // The server has a shorter way to one. A projection would cost it more than it saves the service.
        const _id = wanted.length === 1 ? wanted[0] : { $in: wanted };
        const pets = await query(wanted.length, { filter: { _id } });
        const found = new Map(pets.map((pet) => [pet.id, pet]));
        return ids.map((id) => found.get(id) ?? null);
      }),
    { maxItems: MAX_IDS, timeout },
  );

  /** Reads several pages by one command, which costs the server more than a query: each is an array in one document. */
  async function readPages(selections: readonly PetSelection[]): Promise<Pet[][]> {
    const [only, ...more] = selections;
    if (only !== undefined && more.length === 0) {
      const { filter, sort } = rangeOf(only);
      return [await query(only.limit, { projection: PET_MEMBERS, filter, sort, hint: sort })];
    }
    const lookups = selections.map((selection, index) => {
      const { filter, sort } = rangeOf(selection);
      const pipeline = [{ $match: filter }, { $sort: sort }, { $limit: selection.limit }, { $project: PET_MEMBERS }];
      return { $lookup: { from: PET_COLLECTION.name, pipeline, as: String(index) } };
    });
    const pipeline = [{ $documents: [{}] }, ...lookups];
    const [pages] = await readRaw(db, { aggregate: 1, pipeline, cursor: {}, ...bounded });
    return valuesOf(pages as Buffer).map((page) => valuesOf(page).map(decodePet));
  }

  const readShared = createBatches(
    (selections: readonly PetSelection[]) =>
      barrier(async () => {
        const longest = new Map<string, PetSelection>();
        for (const selection of selections) {
          const key = pageKey(selection);
          if (selection.limit > (longest.get(key)?.limit ?? 0)) longest.set(key, selection);
        }
        const pages = (await Promise.all(inGroups([...longest.values()], MAX_PAGES).map(readPages))).flat();
        const byKey = new Map([...longest.keys()].map((key, index) => [key, pages[index] as Pet[]]));
        return selections.map((selection) => (byKey.get(pageKey(selection)) as Pet[]).slice(0, selection.limit));
      }),
    { maxItems: MAX_SELECTIONS, timeout },
  );

  async function list({ status, after, limit }: PetSelection): Promise<Pet[]> {
    const part = await readShared({ status, after, limit: Math.min(limit, MAX_LIMIT) });
    const last = part.at(-1);
    if (last === undefined || part.length < MAX_LIMIT || limit === MAX_LIMIT) return part;
    return [...part, ...(await list({ status, after: last.id, limit: limit - MAX_LIMIT }))];
  }

  return { find, list };
}

/** Where a page is. The order names the whole index of pages by status: a `$lookup` can't have a hint. */
function rangeOf({ status, after }: PetSelection) {
  const _id = { $gt: after };
  return status === undefined ? { filter: { _id }, sort: { _id: 1 } } : { filter: { status, _id }, sort: BY_STATUS };
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

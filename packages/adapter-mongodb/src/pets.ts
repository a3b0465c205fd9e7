import { createBatches, type Limits, type Methods, readPages } from '@animal-store/adapter-kit';
import type { Pet } from '@animal-store/domain';
import type { PetRepository, PetSelection, SelectionBy } from '@animal-store/domain/ports';
import type { Db, UUID } from 'mongodb';
import { decodePet, type NewDocument, type Query, readDocuments, valuesOf } from './documents.ts';
import type { ReadBarrier } from './election/read-barrier.ts';
import { createFind } from './find.ts';
import type { Insertions } from './insert.ts';
import { checkInt64, checkPageLimit, checkText, TIME_LIMITS } from './limits.ts';
import { BY_STATUS } from './schema.ts';

/** How many calls share a batch of pages at most. */
const MAX_SELECTIONS = 200;

/** How many pages one command reads at most: together up to 2.5 megabytes. */
const MAX_PAGES = 8;

/** What the methods of pets need of an open database. */
interface Pets {
  readonly insertions: Insertions;
  readonly reads: ReturnType<typeof createReads>;
}

export const pets: Methods<PetRepository, Pets> = {
  add(call, { name, categoryId, status }, idempotency) {
    checkInt64('categoryId', categoryId);
    const pet = { name, categoryId, status, idempotency } satisfies Record<keyof NewDocument, unknown>;
    return call.connection.insertions.create(pet, call);
  },

  find(call, id) {
    checkInt64('id', id);
    return call.connection.reads.find(id, call);
  },

  async list(call, selection: SelectionBy<'status'>) {
    const { status, after, limit } = selection;
    checkPageLimit(limit);
    checkInt64('after', after);
    if (status !== undefined) checkText('status', status);
    return call.connection.reads.list(selection, call);
  },
};

/** Finds and lists pets. Fails with the driver's errors. */
export function createReads(db: Db, collectionUUID: UUID | undefined, query: Query, barrier: ReadBarrier) {
  function readPet(document: Buffer): readonly [bigint, Pet] {
    const pet = decodePet(document);
    return [pet.id, pet];
  }

  async function readAll(selections: readonly PetSelection[], limits: Limits): Promise<Pet[][]> {
    const commands: Promise<Pet[][]>[] = [];
    for (let done = 0; done < selections.length; done += MAX_PAGES) {
      commands.push(readTogether(selections.slice(done, done + MAX_PAGES), limits));
    }
    return (await Promise.all(commands)).flat();
  }

  /** Reads pages by one command, which costs the server less than a command for each. */
  async function readTogether(selections: readonly PetSelection[], limits: Limits): Promise<Pet[][]> {
    const [only, ...more] = selections;
    if (only !== undefined && more.length === 0) {
      return [(await query(only.limit, rangeOf(only), limits)).map(decodePet)];
    }
    const lookups = selections.map((selection, index) => {
      const { filter, sort } = rangeOf(selection);
      const pipeline = [{ $match: filter }, { $sort: sort }, { $limit: selection.limit }];
      return { $lookup: { from: 'pets', pipeline, as: String(index) } };
    });
    // A pipeline that begins with `$documents` has no collection whose UUID the server could compare. So it begins with the
    // first pet, and removes its members. If there is none, all pages are empty.
    const pipeline = [{ $limit: 1 }, { $replaceWith: {} }, ...lookups];
    const command = { aggregate: 'pets', collectionUUID, pipeline, hint: { _id: 1 }, cursor: {} };
    const [pages] = await readDocuments(db, command, limits);
    if (pages === undefined) return selections.map(() => []);
    // The members are in the order of the lookups.
    return valuesOf(pages).map((page) => valuesOf(page).map(decodePet));
  }

  return {
    find: createFind<bigint, Pet>('_id', readPet, query, barrier),
    list: createBatches<PetSelection, readonly Pet[]>(
      (selections, limits) => barrier(() => readPages(selections, (longest) => readAll(longest, limits))),
      { maxItems: MAX_SELECTIONS, maxWait: TIME_LIMITS.batch },
    ),
  };
}

/** Where a page is. The order names the whole index of pages by status: a `$lookup` can't have a hint. */
export function rangeOf({ status, after }: Omit<SelectionBy<'status'>, 'limit'>) {
  const sort = status === undefined ? ({ _id: 1 } as const) : BY_STATUS;
  return { filter: { ...(status && { status }), _id: { $gt: after } }, sort, hint: sort };
}

import { createBatches } from '@animal-store/adapter-kit';
import type { Pet } from '@animal-store/domain';
import type { PetSelection, PetStore } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import type { TimeLimits } from '../time-limits.ts';
import { PET_SQL, type PetRow, petOf } from './pet-statements.ts';

/** How many pets one query returns at most, unless one page is longer: about a megabyte. */
const MAX_PETS = 1_000;

/**
 * Combined reads of pets: calls that come while a read of their kind is in flight share the next one. Pets that are read
 * by id are of one kind, pages of all pets and pages by status of two others.
 */
export function createPetReads({ query, call }: Connection, { batch }: TimeLimits): Pick<PetStore, 'find' | 'list'> {
  const oneAtATime = { parallel: 1, maxItems: MAX_PETS, maxWait: batch };

  const find = createBatches<bigint, Pet | null>(async (ids) => {
    const rows = await query<PetRow>(PET_SQL.find, [...new Set(ids)]);
    const found = new Map(rows.map((row) => [BigInt(row[0]), row]));
    return (id) => {
      const row = found.get(id);
      // Each caller gets its own object.
      return row === undefined ? null : petOf(row);
    };
  }, oneAtATime);

  const pages = (sql: string) =>
    createBatches<PetSelection, readonly Pet[]>(
      async (selections) => {
        const given = new Map(selections.map((one) => [pageKey(one), { ...one, rows: [] as PetRow[] }]));
        const pages = [...given.values()];
        const [afters, limits] = [pages.map(({ after }) => after), pages.map(({ limit }) => limit)];
        const statuses = pages.map(({ status }) => status);
        for (const [page, ...row] of await query<[page: string, ...PetRow]>(sql, afters, limits, statuses)) {
          pages[Number(page) - 1]?.rows.push(row);
        }
        return (selection) => (given.get(pageKey(selection)) ?? { rows: [] }).rows.map(petOf);
      },
      { ...oneAtATime, maxWeight: MAX_PETS, weigh: ({ limit }) => limit },
    );
  const list = pages(PET_SQL.list);
  const listByStatus = pages(PET_SQL.listByStatus);

  return {
    find: (id) => call(() => find(id)),

    async list({ status, after, limit }) {
      // The selection is copied, because the call may wait for others.
      const selection = { status, after, limit };
      return call(() => (status === undefined ? list : listByStatus)(selection));
    },
  };
}

/** The same page is read once. */
function pageKey({ status, after, limit }: PetSelection): string {
  return `${status} ${after} ${limit}`;
}

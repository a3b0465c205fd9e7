import { createBatches } from '@animal-store/batching';
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
    const found = new Map(rows.map((row) => [row[0], petOf(row)]));
    return (id) => found.get(id) ?? null;
  }, oneAtATime);

  const pages = (sql: string) =>
    createBatches<PetSelection, readonly Pet[]>(
      async (selections) => {
        const longest = new Map<string, PetSelection>();
        for (const selection of selections) {
          const key = pageKey(selection);
          if (selection.limit > (longest.get(key)?.limit ?? 0)) longest.set(key, selection);
        }
        const given = [...longest.values()];
        const [afters, limits] = [given.map(({ after }) => after), given.map(({ limit }) => limit)];
        const statuses = given.map(({ status }) => status);
        const found = new Map([...longest.keys()].map((key) => [key, [] as Pet[]]));
        const inOrder = [...found.values()];
        for (const [page, ...row] of await query<[page: bigint, ...PetRow]>(sql, afters, limits, statuses)) {
          inOrder[Number(page) - 1]?.push(petOf(row));
        }
        return (selection) => (found.get(pageKey(selection)) as Pet[]).slice(0, selection.limit);
      },
      { ...oneAtATime, maxWeight: MAX_PETS, weigh: ({ limit }) => limit },
    );
  const list = pages(PET_SQL.list);
  const listByStatus = pages(PET_SQL.listByStatus);

  return {
    find: (id) => call(() => find(id)),

    async list({ status, after, limit }) {
      // A copy: it may wait for others.
      const selection = { status, after, limit };
      return call(() => (status === undefined ? list : listByStatus)(selection));
    },
  };
}

/** Pages of the same list that begin behind the same pet are parts of the longest of them. */
function pageKey({ status, after }: PetSelection): string {
  return `${status} ${after}`;
}

import { createBatches, createPetDecoder } from '@animal-store/adapter-kit';
import type { Pet } from '@animal-store/domain';
import type { PetSelection, PetStore } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import type { TimeLimits } from '../time-limits.ts';
import { PET_SQL, petOf } from './pet-statements.ts';

/** How many pets one query looks up at most. */
const MAX_PETS = 2_000;

/** How many pages one query reads at most. */
const MAX_PAGES = 20;

const MAX_CACHE_BYTES = 32 * 1024 * 1024;

/**
 * Combined reads of pets: calls that come while a read of their kind is in flight share the next one. Pets that are read
 * by id are of one kind, pages of all pets and pages by status of two others.
 */
export function createPetReads({ query, call }: Connection, { batch }: TimeLimits): Pick<PetStore, 'find' | 'list'> {
  const decodePet = createPetDecoder(petOf, MAX_CACHE_BYTES);
  const timeout = batch;

  const find = createBatches<bigint, Pet | null>(
    async (ids) => {
      const rows = await query<[pet: string]>(PET_SQL.find, [...new Set(ids)]);
      const found = new Map(rows.map(([stored]) => decodePet(stored)).map((pet) => [pet.id, pet]));
      return ids.map((id) => found.get(id) ?? null);
    },
    { maxItems: MAX_PETS, timeout },
  );

  const pages = (one: string, several: string) =>
    createBatches<PetSelection, readonly Pet[]>(
      async (selections) => {
        const longest = new Map<string, PetSelection>();
        for (const selection of selections) {
          const key = pageKey(selection);
          if (selection.limit > (longest.get(key)?.limit ?? 0)) longest.set(key, selection);
        }
        const values = [...longest.values()].map(({ after, limit, status }) => [after, limit, status]);
        const [only = [], ...more] = values;
        const rows =
          more.length === 0
            ? await query<[pets: string]>(one, ...only.filter((value) => value !== undefined))
            : await query<[pets: string]>(several, ...only.map((_, column) => values.map((row) => row[column])));
        const keys = longest.keys();
        const read = new Map(rows.map(([pets]) => [keys.next().value, JSON.parse(pets).map(decodePet) as Pet[]]));
        return selections.map((selection) => (read.get(pageKey(selection)) as Pet[]).slice(0, selection.limit));
      },
      { maxItems: MAX_PAGES, timeout },
    );
  const list = pages(PET_SQL.list, PET_SQL.listSeveral);
  const listByStatus = pages(PET_SQL.listByStatus, PET_SQL.listSeveralByStatus);

  return {
    find: (id) => call(() => find(id)),

    async list({ status, after, limit }) {
      // The selection is copied, because the call may wait for others.
      const selection = { status, after, limit };
      return call(() => (status === undefined ? list : listByStatus)(selection));
    },
  };
}

/** Pages of the same list that begin behind the same pet are parts of the longest of them. */
function pageKey({ status, after }: PetSelection): string {
  return `${status} ${after}`;
}

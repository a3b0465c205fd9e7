import { type BatchWork, createBatches, createIdBlocks } from '@animal-store/adapter-kit';
import type { MonotonicClock, NewPet, PetStatus } from '@animal-store/domain';
import { type Creation, type Idempotency, type PetStore, unavailable } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import { isDefect, isDuplicate } from '../connection/failures.ts';
import { toStored } from '../connection/text.ts';
import type { TimeLimits } from '../time-limits.ts';
import { PET_SQL, petOf } from './pet-statements.ts';

/** How many insertions may be in flight: the server writes the log of both with one flush. */
const PARALLEL = 2;

/** How many pets are inserted at once. */
const MAX_PETS = 500;

/** The columns of a pet without its id, and those of its idempotency key. */
type NewRow = readonly [
  bigint,
  PetStatus | null,
  name: string,
  holder: string | null,
  key: string | null,
  string | null,
];

/** Creates pets, each idempotency key once: those that come while insertions are in flight share a statement. */
export function createPetCreation(
  { query, call }: Connection,
  { limits, clock }: { limits: TimeLimits; clock: MonotonicClock },
): PetStore['add'] {
  const ids = createIdBlocks({
    clock,
    reserve: async (count) => BigInt((await query<[string]>(PET_SQL.reserveIds, count))[0]?.[0] as string),
  });

  /** @returns The ids of the pets, null for those that earlier creations stand for. */
  async function insert(rows: readonly NewRow[]): Promise<readonly (bigint | null)[]> {
    // Ids are assigned as late as possible, so that they are stored nearly in order.
    const taken = await ids.take(rows.length);
    const [row, another] = rows;
    const created =
      row !== undefined && another === undefined
        ? await query<[string]>(PET_SQL.create, taken[0], ...row)
        : await query<[string]>(PET_SQL.createSeveral, taken, ...columnsOf(rows));
    const stored = new Set(created.map(([id]) => id));
    return taken.map((id) => (stored.has(String(id)) ? id : null));
  }

  /** @returns Earlier creations by row; null if the key stands for another pet. */
  async function findCreated(rows: readonly NewRow[]): Promise<ReadonlyMap<NewRow | undefined, Creation | null>> {
    const keys = columnsOf(rows).slice(-3);
    const found = await query<[number: string, isSame: string, pet: string]>(PET_SQL.findCreated, ...keys);
    return new Map(
      found.map(([number, isSame, pet]) => [
        rows[Number(number) - 1],
        isSame === 't' ? { pet: petOf(pet), created: false } : null,
      ]),
    );
  }

  const createAll: BatchWork<NewRow, Creation | null> = async (rows) => {
    let inserted: readonly (bigint | null)[];
    try {
      inserted = await insert(rows).catch((failure) => {
        if (!isDuplicate(failure, 'pets_pkey')) throw failure;
        // Pets that were inserted by hand have taken ids of the block.
        ids.discard();
        return insert(rows);
      });
    } catch (failure) {
      if (!isDefect(failure)) throw failure;
      // The server does not say which row it rejects.
      if (rows.length === 1) throw failure;
      return createEach(rows);
    }
    const repeated = rows.filter((_, index) => inserted[index] === null);
    const [earlier] = await Promise.allSettled(repeated.length > 0 ? [findCreated(repeated)] : []);
    return rows.map((row, index) => {
      const id = inserted[index];
      if (typeof id === 'bigint') return { pet: petOf([id, ...row.slice(0, 3)].join(' ')), created: true };
      if (earlier?.status !== 'fulfilled') return earlier?.reason;
      const creation = earlier.value.get(row);
      return creation === undefined
        ? unavailable(new Error('the pet of an idempotency key was just deleted'))
        : creation;
    });
  };

  /** Creates each pet with a statement of its own. */
  const createEach: BatchWork<NewRow, Creation | null> = async (rows) => {
    const ends = await Promise.allSettled(rows.map((row) => createAll([row])));
    return ends.map((end) => (end.status === 'rejected' ? end.reason : end.value[0]));
  };

  const create = createBatches(createAll, {
    parallel: PARALLEL,
    maxItems: MAX_PETS,
    timeout: limits.batch,
  });

  return async (newPet, idempotency) => {
    // The pet is copied now, because the call may wait for others.
    const row = rowOf(newPet, idempotency);
    return call(() => create(row));
  };
}

function rowOf({ name, categoryId, status }: NewPet, idempotency: Idempotency | undefined): NewRow {
  const pet = [categoryId, status ?? null, toStored(name)] as const;
  if (idempotency === undefined) return [...pet, null, null, null];
  const { holder, key, fingerprint } = idempotency;
  return [...pet, toStored(holder), toStored(key), toStored(fingerprint)];
}

/** The values of each column, for `unnest`. */
function columnsOf(rows: readonly NewRow[]): unknown[][] {
  return (rows[0] as NewRow).map((_, column) => rows.map((row) => row[column]));
}

import { type BatchWork, createBatches, type Limits, type Methods, readPages } from '@animal-store/adapter-kit';
import type { NewPet, Pet, PetStatus } from '@animal-store/domain';
import {
  type Creation,
  type PetRepository,
  type PetSelection,
  type SelectionBy,
  unavailable,
} from '@animal-store/domain/ports';
import { columnsOf, NEW_ROW, type NewRow } from './columns.ts';
import { kindOf, meaningOf } from './failures.ts';
import type { Pools } from './pools.ts';
import {
  type Columns,
  type CombinedStatement,
  IN_TIME,
  lookup,
  resultsOf,
  statement,
  typesOf,
  WAIT_FOR_STANDBYS,
  writeGiven,
} from './statements.ts';

/** How many items one statement has at most. A page has up to 101 pets: together up to 4 megabytes. */
const PET_BATCH = { maxItems: 500 };
const PAGE_BATCH = { maxItems: 50 };

/** The columns of a new pet, and its members in the relation `given`, in the same order. */
export const COLUMNS = columnsOf(NEW_ROW);
export const MEMBERS = Object.keys(NEW_ROW).map((member) => `"${member}"`);
export const MEMBER_TYPES: Columns<NewRow> = typesOf(NEW_ROW);

const { holder, key, fingerprint, ...OF_PET } = NEW_ROW;
const KEY = typesOf({ holder, key, fingerprint });

/** A pet in JSON, in which a number of 64 bits is a text. */
export const PET = `json_build_array(id, ${Object.values(OF_PET).map(
  ({ column, type }) => column + (type === 'bigint' ? '::text' : ''),
)})`;

export type PetRow = readonly [id: number, name: string, categoryId: string, status: PetStatus | null];

export const petOf = ([id, name, categoryId, status]: PetRow): Pet =>
  petWith({ id: BigInt(id), name, categoryId: BigInt(categoryId) }, status);

const petWith = (pet: Omit<Required<Pet>, 'status'>, status: PetStatus | null | undefined): Pet =>
  status ? { ...pet, status } : pet;

const GIVEN = writeGiven(MEMBER_TYPES);
const INSERT = `INSERT INTO pets (id, ${COLUMNS}) OVERRIDING SYSTEM VALUE`;
export const UNLESS_REPEATED = `ON CONFLICT (${[holder.column, key.column]}) WHERE ${key.column} IS NOT NULL DO NOTHING`;

/** A page as one value: the driver decodes one. */
const page = (columns: Columns, condition: string, order: string) =>
  lookup(
    { ...columns, after: 'bigint', limit: 'bigint' },
    `to_json(ARRAY(SELECT ${PET} FROM pets WHERE ${condition} ORDER BY ${order} LIMIT given.limit))`,
  );

export const PET_STATEMENTS = {
  /** Returns the id of each pet; null for one that was not inserted, because a pet has its idempotency key already. */
  create: {
    columns: MEMBER_TYPES,
    one: statement(`${INSERT} SELECT nextval('pets_id_seq'), ${MEMBERS} FROM ${GIVEN.one}
      ${UNLESS_REPEATED} RETURNING to_json(id)`),
    // The order of the keys prevents deadlocks of processes that repeat the same creations.
    many: statement(`WITH numbered AS MATERIALIZED (
        SELECT nextval('pets_id_seq') AS id, number, given.* FROM ${GIVEN.many}
      ), created AS (
        ${INSERT} SELECT id, ${MEMBERS} FROM numbered ORDER BY holder, key, id ${UNLESS_REPEATED} RETURNING id
      )
      SELECT json_agg(created.id ORDER BY number) FROM numbered LEFT JOIN created USING (id)`),
  },
  /** Returns the pet that has an idempotency key, and whether it was created with the same fingerprint. */
  findEarlier: lookup(
    KEY,
    `SELECT json_build_array(${PET}, ${fingerprint.column} = given.fingerprint) FROM pets
      WHERE ${holder.column} = given.holder AND ${key.column} = given.key`,
    writeGiven(KEY),
    WAIT_FOR_STANDBYS,
  ),
  find: lookup({ id: 'bigint' }, `SELECT ${PET} FROM pets WHERE id = given.id`),
  list: page({}, 'id > given.after', 'id'),
  // `status = given.status AND id > given.after`, in a form whose order only one index has: its choice does not depend on the
  // number of pets with the status.
  listByStatus: page(
    { status: 'text' },
    '(status, id) > (given.status, given.after) AND status <= given.status',
    'status, id',
  ),
} as const;

/**
 * Takes ids until as many are free as a batch needs, or 100,000: then its result is null. A role that may not set the sequence
 * may do so. It looks at the first id, because an index of an administrator may have rejected the pet, and then at one of 100,
 * because looking takes ten times as long as taking. Of several servers, each may leave the ids between its own to the others.
 */
const SKIP_TAKEN_IDS = statement(`WITH next AS MATERIALIZED (
    SELECT nextval('pets_id_seq') AS id, number FROM generate_series(1, 100000) AS number WHERE ${IN_TIME}
  )
  SELECT id FROM next, pg_sequence
  WHERE seqrelid = 'pets_id_seq'::regclass AND (number = 1 OR number % 100 = 0)
    AND (SELECT id FROM pets WHERE pets.id BETWEEN next.id AND next.id + ${PET_BATCH.maxItems} * seqincrement
      AND (pets.id - next.id) % seqincrement = 0 LIMIT 1) IS NULL LIMIT 1`);

/** null: the idempotency key stands for another pet. */
type Outcome = Creation | null | Error;

/**
 * Runs a statement for all items, or one for each if the server rejects one of them, because it does not say which. Several items
 * in one of these statements could wait for the locks of another one, in a circle.
 */
const orEachAlone =
  <T, R>(work: BatchWork<T, R>): BatchWork<T, R> =>
  async (items, limits) => {
    try {
      return await work(items, limits);
    } catch (failure) {
      if (items.length === 1 || !meaningOf(failure).isOfOne) throw failure;
      const ends = items.map((item) => work([item], limits).catch((error: Error) => [error]));
      return (await Promise.all(ends)).flat() as (R | Error)[];
    }
  };

/** Combines the calls of `pets`. */
export function createPetBatches({ read, write }: Pools) {
  /** Inserts pets, and finds the earlier ones of repeated idempotency keys. */
  async function insert(rows: readonly NewRow[], limits: Limits): Promise<Outcome[]> {
    const create = () => resultsOf<number | null>(write, PET_STATEMENTS.create, rows, limits);
    const ids = await create().catch(async (failure) => {
      if (kindOf(failure) !== 'taken') throw failure;
      // The counter of ids may be behind, as after a restored backup.
      let free: number | null = null;
      while (free === null) free = await write(SKIP_TAKEN_IDS, [], limits);
      return create();
    });
    const repeated = rows.filter((_, index) => ids[index] === null);
    const earlier = repeated.length > 0 ? await findEarlier(repeated, limits) : [];
    return rows.map(({ name, categoryId, status }, index) => {
      const id = ids[index] ?? null;
      if (id === null) return earlier.shift() as Outcome;
      return { pet: petWith({ id: BigInt(id), name, categoryId }, status), created: true };
    });
  }

  /** If it fails, that is the outcome of these pets alone. */
  async function findEarlier(rows: readonly NewRow[], limits: Limits): Promise<Outcome[]> {
    try {
      type Found = readonly [PetRow, isSame: boolean] | null;
      const found = await resultsOf<Found>(write, PET_STATEMENTS.findEarlier, rows, limits);
      return found.map((earlier) => {
        if (earlier === null) return unavailable(new Error('the pet of an idempotency key was just deleted'));
        const [pet, isSame] = earlier;
        return isSame ? { pet: petOf(pet), created: false } : null;
      });
    } catch (failure) {
      return rows.map(() => failure as Error);
    }
  }

  const find = async (ids: readonly { readonly id: bigint }[], limits: Limits): Promise<(Pet | null)[]> =>
    (await resultsOf<PetRow | null>(read, PET_STATEMENTS.find, ids, limits)).map((row) => row && petOf(row));

  const pages = (statement: CombinedStatement) => {
    const list = (selections: readonly PetSelection[], limits: Limits) =>
      readPages(selections, async (longest) => {
        const pages = await resultsOf<readonly PetRow[]>(read, statement, longest, limits);
        return pages.map((page) => page.map(petOf));
      });
    return createBatches(orEachAlone(list), PAGE_BATCH);
  };

  return {
    // One at a time: the ids of a batch are above those of the batch before.
    create: createBatches(orEachAlone(insert), PET_BATCH),
    find: createBatches(orEachAlone(find), PET_BATCH),
    list: pages(PET_STATEMENTS.list),
    listByStatus: pages(PET_STATEMENTS.listByStatus),
  };
}

export const pets: Methods<PetRepository, { readonly batches: ReturnType<typeof createPetBatches> }> = {
  add(call, { name, categoryId, status }, idempotency) {
    const pet = { name, categoryId, status } satisfies Record<keyof NewPet, unknown>;
    return call.connection.batches.create({ ...pet, ...idempotency }, call);
  },

  find: (call, id) => call.connection.batches.find({ id }, call),

  list(call, selection: SelectionBy<'status'>) {
    const { batches } = call.connection;
    return (selection.status ? batches.listByStatus : batches.list)(selection, call);
  },
};

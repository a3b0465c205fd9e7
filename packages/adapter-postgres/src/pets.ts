import { createBatches, type Resource, readPages } from '@animal-store/adapter-kit';
import type { Pet, PetStatus } from '@animal-store/domain';
import {
  type Creation,
  type Idempotency,
  type PetSelection,
  type PetStore,
  unavailable,
} from '@animal-store/domain/ports';
import { type Connection, LOGGED, type Query, type Statement, statement } from './connection.ts';
import { isRejection } from './failures.ts';

/** How many items one statement has at most. A page has up to 101 pets: together up to 4 megabytes. */
const MAX_PETS = 500;
const MAX_PAGES = 50;

/** A pet in JSON, in which a number of 64 bits is a text. */
export const PET = 'json_build_array(id, name, category_id::text, status)';

export type PetRow = readonly [id: number, name: string, categoryId: string, status: PetStatus | null];

/** The elements of the JSON array $1. */
const GIVEN = 'jsonb_array_elements($1) WITH ORDINALITY AS given (item, number)';

interface Reading {
  readonly one: Statement;
  readonly each: Statement;
}

/**
 * Two statements for one read. `one` has the values as $1, $2 …; `each` has a JSON array of such lists as $1, and returns an
 * array of the results. Nobody reads the columns of `more`.
 */
function reading(result: string, ...more: string[]): Reading {
  const ofItem = result.replaceAll(/\$(\d)/g, (_, number) => `(item ->> ${number - 1})`);
  return {
    one: statement(`SELECT ${[`(${result})`, ...more].join()}`),
    each: statement(`SELECT ${[`json_agg((${ofItem}) ORDER BY number)`, ...more].join()} FROM ${GIVEN}`),
  };
}

/** A page as one value: the driver decodes one. */
const page = (condition: string, order: string, limit: string) =>
  reading(`to_json(ARRAY(SELECT ${PET} FROM pets WHERE ${condition} ORDER BY ${order} LIMIT ${limit}))`);

const KEYS = '(idempotency_holder, idempotency_key) WHERE idempotency_key IS NOT NULL';
const COLUMNS = 'name, category_id, status, idempotency_holder, idempotency_key, idempotency_fingerprint';

export const PET_STATEMENTS = {
  /** For a creation that is alone. */
  createOne: statement(`INSERT INTO pets (id, ${COLUMNS}) OVERRIDING SYSTEM VALUE
    VALUES (nextval('pets_id_seq'), $1, $2, $3, $4, $5, $6) ON CONFLICT ${KEYS} DO NOTHING RETURNING to_json(id)`),
  // The order of the keys prevents deadlocks of processes that repeat the same creations.
  create: statement(`WITH numbered AS MATERIALIZED (
      SELECT nextval('pets_id_seq') AS id, number, item, item ->> 3 AS holder, item ->> 4 AS key FROM ${GIVEN}
    ), created AS (
      INSERT INTO pets (id, ${COLUMNS}) OVERRIDING SYSTEM VALUE
      SELECT id, item ->> 0, (item ->> 1)::bigint, item ->> 2, holder, key, item ->> 5 FROM numbered ORDER BY holder, key, id
      ON CONFLICT ${KEYS} DO NOTHING RETURNING id
    )
    SELECT json_agg(created.id ORDER BY number) FROM numbered LEFT JOIN created USING (id)`),
  findCreated: reading(
    `SELECT json_build_array(${PET}, idempotency_fingerprint) FROM pets
      WHERE idempotency_holder = $1 AND idempotency_key = $2`,
    LOGGED,
  ),
  find: reading(`SELECT ${PET} FROM pets WHERE id = $1::bigint`),
  list: page('id > $1::bigint', 'id', '$2::bigint'),
  // Only one index has the order `status, id`, so its choice does not depend on the number of pets with the status.
  listByStatus: page('(status, id) > ($1, $2::bigint) AND status <= $1', 'status, id', '$3::bigint'),
} as const;

/** A new pet with its idempotency key. */
interface NewRow extends Partial<Idempotency> {
  readonly name: string;
  readonly categoryId: string;
  readonly status: PetStatus | undefined;
}

/** The values of the statements that create. */
const valuesOf = ({ name, categoryId, status, holder, key, fingerprint }: NewRow) =>
  [name, categoryId, status, holder, key, fingerprint] as const;

/** Combined calls of one pool of connections. */
export function createPetBatches({ read, write }: Connection) {
  async function insert(rows: readonly NewRow[]): Promise<(Creation | null | Error)[]> {
    const [ids = []] =
      rows.length === 1
        ? [await write<number>(PET_STATEMENTS.createOne, ...valuesOf(rows[0] as NewRow))]
        : await write<(number | null)[]>(PET_STATEMENTS.create, JSON.stringify(rows.map(valuesOf)));
    const repeated = rows.filter((_, index) => typeof ids[index] !== 'number');
    // A failure is not that of the pets that were created.
    const earlier = await findCreated(repeated).catch((failure) => repeated.map(() => failure));
    return rows.map(({ name, categoryId, status = null }, index) => {
      const id = ids[index];
      return typeof id === 'number' ? { pet: petOf([id, name, categoryId, status]), created: true } : earlier.shift();
    });
  }

  async function findCreated(rows: readonly NewRow[]): Promise<(Creation | null | Error)[]> {
    const earlier = await Promise.all(rows.map(({ holder, key }) => findByKey([holder, key])));
    return rows.map(({ fingerprint }, index) => {
      const [pet, ofEarlier] = earlier[index] ?? [];
      if (pet === undefined) return unavailable(new Error('the pet of an idempotency key was just deleted'));
      return ofEarlier === fingerprint ? { pet: petOf(pet), created: false } : null;
    });
  }

  /** Inserts each pet alone if the server rejects one of them: it does not say which. */
  async function create(rows: readonly NewRow[]): Promise<(Creation | null | Error)[]> {
    try {
      return await insert(rows);
    } catch (failure) {
      if (rows.length === 1 || !isRejection(failure)) throw failure;
      const ends = await Promise.allSettled(rows.map((row) => insert([row])));
      return ends.map((end) => (end.status === 'fulfilled' ? (end.value[0] as Creation | null) : end.reason));
    }
  }

  /** The results for different lists of values. */
  async function resultsOf<Row>(query: Query, { one, each }: Reading, given: readonly (readonly unknown[])[]) {
    const [only, ...more] = given;
    if (only !== undefined && more.length === 0) return query<Row>(one, ...only);
    return (await query<Row[]>(each, JSON.stringify(given)))[0] as Row[];
  }

  const reads = <Row, R>(query: Query, statements: Reading, decode: (row: Row) => R) =>
    createBatches<readonly unknown[], R>(
      async (given) => (await resultsOf<Row>(query, statements, given)).map(decode),
      {
        maxItems: MAX_PETS,
      },
    );

  const pages = (statements: Reading, valuesOf: (selection: PetSelection) => readonly unknown[]) =>
    createBatches<PetSelection, readonly Pet[]>(
      (selections) =>
        readPages(selections, async (longest) => {
          const rows = await resultsOf<readonly PetRow[]>(read, statements, longest.map(valuesOf));
          return rows.map((page) => page.map(petOf));
        }),
      { maxItems: MAX_PAGES },
    );

  const findByKey = reads(write, PET_STATEMENTS.findCreated, (row: readonly [PetRow, string] | null) => row);
  return {
    // One at a time: the ids of a batch are above those of the batch before.
    create: createBatches(create, { maxItems: MAX_PETS }),
    find: reads(read, PET_STATEMENTS.find, (row: PetRow | null) => row && petOf(row)),
    list: pages(PET_STATEMENTS.list, ({ after, limit }) => [String(after), limit]),
    listByStatus: pages(PET_STATEMENTS.listByStatus, ({ status, after, limit }) => [status, String(after), limit]),
  };
}

type Database = Resource<{ readonly pets: ReturnType<typeof createPetBatches> }>;
export function createPostgresPetStore({ call }: Database): PetStore {
  return {
    add({ name, categoryId, status }, idempotency) {
      const row = { name, categoryId: String(categoryId), status, ...idempotency };
      return call(({ pets }) => pets.create(row));
    },

    find: (id) => call(({ pets }) => pets.find([String(id)])),

    list: (selection) =>
      call(({ pets }) => (selection.status === undefined ? pets.list(selection) : pets.listByStatus(selection))),
  };
}

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  const pet = { id: BigInt(id), name, categoryId: BigInt(categoryId) };
  return status === null ? pet : { ...pet, status };
}

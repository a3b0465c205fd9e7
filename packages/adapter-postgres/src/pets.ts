import { createBatches, readPages } from '@animal-store/adapter-kit';
import type { Pet, PetStatus } from '@animal-store/domain';
import { type Creation, type Idempotency, type PetSelection, unavailable } from '@animal-store/domain/ports';
import type { Connection, Query } from './connection.ts';
import { isRejection } from './failures.ts';
import { LOGGED, type Statement, statement } from './statement.ts';

/** How many items one statement has at most. A page has up to 101 pets: together up to 4 megabytes. */
const MAX_PETS = 500;
const MAX_PAGES = 50;

/** A pet in JSON, in which a number of 64 bits is a text. */
export const PET = 'json_build_array(id, name, category_id::text, status)';

export type PetRow = readonly [id: number, name: string, categoryId: string, status: PetStatus | null];

/** What a statement is given: its columns with their types. */
type Columns = Readonly<Record<string, string>>;

/** One record: its values are $1, $2 … */
const one = (columns: Columns) =>
  `(SELECT ${Object.entries(columns).map(([name, type], index) => `$${index + 1}::${type} AS "${name}"`)}) AS given`;

/** The records of the JSON array $1. It costs less than jsonb_to_recordset. */
const each = (columns: Columns) => `jsonb_array_elements($1) WITH ORDINALITY AS items (item, number), LATERAL
  (SELECT ${Object.entries(columns).map(([name, type]) => `(item ->> '${name}')::${type} AS "${name}"`)}) AS given`;

/** The statement for one record, and the one for several, which returns an array of the results. */
interface Statements {
  readonly columns: Columns;
  readonly one: Statement;
  readonly each: Statement;
}

/** Nobody reads the columns of `more`. */
const read = (columns: Columns, result: string, ...more: string[]): Statements => ({
  columns,
  one: statement(`SELECT ${[`(${result})`, ...more].join()} FROM ${one(columns)}`),
  each: statement(`SELECT ${[`json_agg((${result}) ORDER BY number)`, ...more].join()} FROM ${each(columns)}`),
});

/** A page as one value: the driver decodes one. */
const page = (columns: Columns, condition: string, order: string) =>
  read(
    { ...columns, after: 'bigint', limit: 'bigint' },
    `to_json(ARRAY(SELECT ${PET} FROM pets WHERE ${condition} ORDER BY ${order} LIMIT given.limit))`,
  );

const KEY = { holder: 'text', key: 'text' };
const NEW_PET = { name: 'text', categoryId: 'bigint', status: 'text', ...KEY, fingerprint: 'text' };

/** Inserts rows with these columns before those of a new pet. */
const insertion = (columns: string, from: string) => `INSERT INTO pets
    (id, name, category_id, status, idempotency_holder, idempotency_key, idempotency_fingerprint) OVERRIDING SYSTEM VALUE
  SELECT ${columns}, name, "categoryId", status, holder, key, fingerprint FROM ${from}
  ON CONFLICT (idempotency_holder, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING RETURNING`;

export const PET_STATEMENTS = {
  create: {
    columns: NEW_PET,
    one: statement(`${insertion("nextval('pets_id_seq')", one(NEW_PET))} to_json(id)`),
    // The order of the keys prevents deadlocks of processes that repeat the same creations.
    each: statement(`WITH numbered AS MATERIALIZED (
        SELECT nextval('pets_id_seq') AS id, number, given.* FROM ${each(NEW_PET)}
      ), created AS (${insertion('id', 'numbered ORDER BY holder, key, id')} id)
      SELECT json_agg(created.id ORDER BY number) FROM numbered LEFT JOIN created USING (id)`),
  },
  findCreated: read(
    KEY,
    `SELECT json_build_array(${PET}, idempotency_fingerprint) FROM pets
      WHERE idempotency_holder = given.holder AND idempotency_key = given.key`,
    LOGGED,
  ),
  find: read({ id: 'bigint' }, `SELECT ${PET} FROM pets WHERE id = given.id`),
  list: page({}, 'id > given.after', 'id'),
  // Only one index has the order `status, id`, so its choice does not depend on the number of pets with the status.
  listByStatus: page(
    { status: 'text' },
    '(status, id) > (given.status, given.after) AND status <= given.status',
    'status, id',
  ),
} as const;

/** A new pet with its idempotency key. */
interface NewRow extends Partial<Idempotency> {
  readonly name: string;
  readonly categoryId: string;
  readonly status: PetStatus | undefined;
}

/** Combined calls. */
export function createPetBatches(database: Connection) {
  /** The results for some records, in their order. A creation alone that repeats another one has none. */
  async function resultsOf<R>(query: Query, { columns, one, each }: Statements, records: readonly object[]) {
    const [only, ...more] = records as readonly Readonly<Record<string, unknown>>[];
    if (only === undefined || more.length > 0) return (await query<R[]>(each, JSON.stringify(records)))[0] as R[];
    return query<R>(one, ...Object.keys(columns).map((name) => only[name]));
  }

  async function insert(rows: readonly NewRow[]): Promise<(Creation | null | Error)[]> {
    const ids = await resultsOf<number | null>(database.write, PET_STATEMENTS.create, rows);
    const repeated = rows.filter((_, index) => typeof ids[index] !== 'number');
    // A failure is not that of the pets that were created.
    const earlier = await findCreated(repeated).catch((failure) => repeated.map(() => failure));
    return rows.map(({ name, categoryId, status = null }, index) => {
      const id = ids[index];
      return typeof id === 'number' ? { pet: petOf([id, name, categoryId, status]), created: true } : earlier.shift();
    });
  }

  async function findCreated(rows: readonly NewRow[]): Promise<(Creation | null | Error)[]> {
    const earlier = await Promise.all(rows.map(({ holder, key }) => findByKey({ holder, key })));
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

  const pages = (statements: Statements) =>
    createBatches<PetSelection, readonly Pet[]>(
      (selections) =>
        readPages(selections, async (longest) => {
          const records = longest.map((selection) => ({ ...selection, after: String(selection.after) }));
          const rows = await resultsOf<readonly PetRow[]>(database.read, statements, records);
          return rows.map((page) => page.map(petOf));
        }),
      { maxItems: MAX_PAGES },
    );

  const findByKey = createBatches<object, readonly [PetRow, string] | null>(
    (keys) => resultsOf(database.write, PET_STATEMENTS.findCreated, keys),
    { maxItems: MAX_PETS },
  );
  return {
    // One at a time: the ids of a batch are above those of the batch before.
    create: createBatches(create, { maxItems: MAX_PETS }),
    find: createBatches<{ readonly id: string }, Pet | null>(
      async (ids) =>
        (await resultsOf<PetRow | null>(database.read, PET_STATEMENTS.find, ids)).map((row) => row && petOf(row)),
      { maxItems: MAX_PETS },
    ),
    list: pages(PET_STATEMENTS.list),
    listByStatus: pages(PET_STATEMENTS.listByStatus),
  };
}

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  const pet = { id: BigInt(id), name, categoryId: BigInt(categoryId) };
  return status === null ? pet : { ...pet, status };
}

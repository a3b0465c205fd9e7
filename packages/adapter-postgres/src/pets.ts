import { createBatches, type Resource } from '@animal-store/adapter-kit';
import type { Pet, PetStatus } from '@animal-store/domain';
import { type Creation, type Idempotency, type PetStore, unavailable } from '@animal-store/domain/ports';
import { type Query, type Statement, statement } from './connection.ts';
import { isRejection } from './failures.ts';

/** How many items one statement has at most. A page has up to 101 pets. */
const MAX_PETS = 500;
const MAX_PAGES = 20;

/** A pet in JSON, in which a number of 64 bits is a text. */
export const PET = 'json_build_array(id, name, category_id::text, status)';

export type PetRow = readonly [id: number, name: string, categoryId: string, status: PetStatus | null];

/** The elements of the JSON array $1. */
const GIVEN = 'jsonb_array_elements($1) WITH ORDINALITY AS given (item, number)';

/** The result for each element, as one JSON array: the driver decodes one value. */
const each = (result: string) => statement(`SELECT json_agg((${result}) ORDER BY number) FROM ${GIVEN}`);

const page = (condition: string, order: string) =>
  each(`SELECT to_json(ARRAY(
    SELECT ${PET} FROM pets WHERE ${condition} ORDER BY ${order} LIMIT (item ->> 'limit')::bigint))`);

const AFTER = "(item ->> 'after')::bigint";
const STATUS = "item ->> 'status'";

export const PET_STATEMENTS = {
  // The order of the keys prevents deadlocks of processes that repeat the same creations.
  create: statement(`WITH numbered AS MATERIALIZED (
      SELECT nextval('pets_id_seq') AS id, number, new.* FROM ${GIVEN}, jsonb_to_record(item)
        AS new (name text, "categoryId" bigint, status text, holder text, key text, fingerprint text)
    ), created AS (
      INSERT INTO pets (id, name, category_id, status, idempotency_holder, idempotency_key, idempotency_fingerprint)
      OVERRIDING SYSTEM VALUE
      SELECT id, name, "categoryId", status, holder, key, fingerprint FROM numbered ORDER BY holder, key, id
      ON CONFLICT (idempotency_holder, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
      RETURNING id
    )
    SELECT json_agg(created.id ORDER BY number) FROM numbered LEFT JOIN created USING (id)`),
  findCreated: each(`SELECT json_build_array(${PET}, idempotency_fingerprint) FROM pets
    WHERE idempotency_holder = item ->> 'holder' AND idempotency_key = item ->> 'key'`),
  find: each(`SELECT ${PET} FROM pets WHERE id = (item ->> 'id')::bigint`),
  list: page(`id > ${AFTER}`, 'id'),
  // Only one index has the order `status, id`, so its choice does not depend on the number of pets with the status.
  listByStatus: page(`(status, id) > (${STATUS}, ${AFTER}) AND status <= ${STATUS}`, 'status, id'),
} as const satisfies Record<string, Statement>;

/** A new pet with its idempotency key. */
interface NewRow extends Partial<Idempotency> {
  readonly name: string;
  readonly categoryId: string;
  readonly status: PetStatus | undefined;
}

/** Combined calls of one pool of connections. */
export function createPetBatches(query: Query) {
  async function insert(rows: readonly NewRow[]): Promise<(Creation | null | Error)[]> {
    const [ids = []] = await query<(number | null)[]>(PET_STATEMENTS.create, JSON.stringify(rows));
    const repeated = rows.filter((_, index) => ids[index] === null);
    // A failure is not that of the pets that were created.
    const earlier = await findCreated(repeated).catch((failure) => repeated.map(() => failure));
    return rows.map(({ name, categoryId, status = null }, index) => {
      const id = ids[index];
      return typeof id === 'number' ? { pet: petOf([id, name, categoryId, status]), created: true } : earlier.shift();
    });
  }

  async function findCreated(rows: readonly NewRow[]): Promise<(Creation | null | Error)[]> {
    if (rows.length === 0) return [];
    const keys = rows.map(({ holder, key }) => ({ holder, key }));
    type Found = readonly [PetRow, fingerprint: string] | null;
    const [found = []] = await query<Found[]>(PET_STATEMENTS.findCreated, JSON.stringify(keys));
    return rows.map(({ fingerprint }, index) => {
      const [pet, ofEarlier] = found[index] ?? [];
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

  /** Reads what several calls select by one statement, and what is selected twice once. */
  function reads<Row, R>(statement: Statement, decode: (row: Row) => R, maxItems: number) {
    return createBatches<object, R>(
      async (selections) => {
        const texts = selections.map((selection) => JSON.stringify(selection));
        const distinct = [...new Set(texts)];
        const [rows = []] = await query<Row[]>(statement, `[${distinct}]`);
        const results = new Map(distinct.map((text, index) => [text, decode(rows[index] as Row)]));
        return texts.map((text) => results.get(text) as R);
      },
      { maxItems },
    );
  }

  const decodePage = (rows: readonly PetRow[]) => rows.map(petOf);
  return {
    // One at a time: the ids of a batch are above those of the batch before.
    create: createBatches(create, { maxItems: MAX_PETS }),
    find: reads(PET_STATEMENTS.find, (row: PetRow | null) => row && petOf(row), MAX_PETS),
    list: reads(PET_STATEMENTS.list, decodePage, MAX_PAGES),
    listByStatus: reads(PET_STATEMENTS.listByStatus, decodePage, MAX_PAGES),
  };
}

type Database = Resource<{ readonly pets: ReturnType<typeof createPetBatches> }>;
export function createPostgresPetStore({ call }: Database): PetStore {
  return {
    add({ name, categoryId, status }, idempotency) {
      const row = { name, categoryId: String(categoryId), status, ...idempotency };
      return call(({ pets }) => pets.create(row));
    },

    find: (id) => call(({ pets }) => pets.find({ id: String(id) })),

    list({ status, after, limit }) {
      const selection = { after: String(after), limit, status };
      return call(({ pets }) => (status === undefined ? pets.list(selection) : pets.listByStatus(selection)));
    },
  };
}

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  const pet = { id: BigInt(id), name, categoryId: BigInt(categoryId) };
  return status === null ? pet : { ...pet, status };
}

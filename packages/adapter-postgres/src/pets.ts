import { createBatches, readPages } from '@animal-store/adapter-kit';
import type { NewPet, Pet, PetStatus } from '@animal-store/domain';
import { type Creation, type Idempotency, type PetSelection, unavailable } from '@animal-store/domain/ports';
import type { Connection } from './connection.ts';
import { kindOf } from './failures.ts';
import {
  type Columns,
  eachRecord,
  LOGGED,
  oneRecord,
  type RecordStatement,
  resultsOf,
  statement,
  valueFor,
} from './statements.ts';

/** How many items one statement has at most. A page has up to 101 pets: together up to 4 megabytes. */
const MAX_PETS = 500;
const MAX_PAGES = 50;

/** A pet in JSON, in which a number of 64 bits is a text. */
export const PET = 'json_build_array(id, name, category_id::text, status)';

export type PetRow = readonly [id: number, name: string, categoryId: string, status: PetStatus | null];

/** A page as one value: the driver decodes one. */
const page = (columns: Columns, condition: string, order: string) =>
  valueFor(
    { ...columns, after: 'bigint', limit: 'bigint' },
    `to_json(ARRAY(SELECT ${PET} FROM pets WHERE ${condition} ORDER BY ${order} LIMIT given.limit))`,
  );

const KEY = { holder: 'text', key: 'text', fingerprint: 'text' };
export const NEW_PET: Columns<NewRow> = { name: 'text', categoryId: 'bigint', status: 'text', ...KEY };

/** Inserts the pets of a relation, except those whose idempotency key a pet has already. `id` is an expression. */
const insertion = (id: string, relation: string, order = '') => `INSERT INTO pets
    (id, name, category_id, status, idempotency_holder, idempotency_key, idempotency_fingerprint) OVERRIDING SYSTEM VALUE
  SELECT ${id}, name, "categoryId", status, holder, key, fingerprint FROM ${relation} ${order}
  ON CONFLICT (idempotency_holder, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING RETURNING`;

export const PET_STATEMENTS = {
  /** Returns the id of each pet; null for one that was not inserted. */
  create: {
    columns: NEW_PET,
    one: statement(`${insertion("nextval('pets_id_seq')", oneRecord(NEW_PET))} to_json(id)`),
    // The order of the keys prevents deadlocks of processes that repeat the same creations.
    each: statement(`WITH numbered AS MATERIALIZED (
        SELECT nextval('pets_id_seq') AS id, number, given.* FROM ${eachRecord(NEW_PET)}
      ), created AS (${insertion('id', 'numbered', 'ORDER BY holder, key, id')} id)
      SELECT json_agg(created.id ORDER BY number) FROM numbered LEFT JOIN created USING (id)`),
  },
  /** Returns the pet that has an idempotency key, and whether it was created with the same fingerprint. */
  findEarlier: valueFor(
    KEY,
    `SELECT json_build_array(${PET}, idempotency_fingerprint = given.fingerprint) FROM pets
      WHERE idempotency_holder = given.holder AND idempotency_key = given.key`,
    LOGGED,
  ),
  find: valueFor({ id: 'bigint' }, `SELECT ${PET} FROM pets WHERE id = given.id`),
  list: page({}, 'id > given.after', 'id'),
  // Only one index has the order `status, id`, so its choice does not depend on the number of pets with the status.
  listByStatus: page(
    { status: 'text' },
    '(status, id) > (given.status, given.after) AND status <= given.status',
    'status, id',
  ),
} as const;

/** A new pet with its idempotency key. */
type NewRow = NewPet & Partial<Idempotency>;

/** null: the idempotency key stands for another pet. */
type Outcome = Creation | null | Error;

/** Combined calls. */
export function createPetBatches({ read, write }: Connection) {
  /** Creates pets together; each alone if the server rejects one of them, because it does not say which. */
  async function create(rows: readonly NewRow[]): Promise<Outcome[]> {
    try {
      return await insert(rows);
    } catch (failure) {
      if (rows.length === 1 || kindOf(failure) !== 'rejection') throw failure;
      const ends = rows.map((row) => insert([row]).catch((error: Error) => [error]));
      return (await Promise.all(ends)).flat();
    }
  }

  /** Inserts pets by one statement. The idempotency key of one without an id is that of an earlier pet. */
  async function insert(rows: readonly NewRow[]): Promise<Outcome[]> {
    const ids = await resultsOf<number | null>(write, PET_STATEMENTS.create, rows);
    const outcomes = rows.map((row, index) => {
      const { name, categoryId, status } = row;
      const id = ids[index] ?? null;
      if (id !== null) return { pet: { id: BigInt(id), name, categoryId, ...(status && { status }) }, created: true };
      // Its failure is not that of the pets that were created.
      return findEarlier(row).catch((failure: Error) => failure);
    });
    return Promise.all(outcomes);
  }

  async function findAllEarlier(rows: readonly NewRow[]): Promise<Outcome[]> {
    const found = await resultsOf<readonly [PetRow, isSame: boolean] | null>(write, PET_STATEMENTS.findEarlier, rows);
    return found.map((earlier) => {
      if (earlier === null) return unavailable(new Error('the pet of an idempotency key was just deleted'));
      const [pet, isSame] = earlier;
      return isSame ? { pet: petOf(pet), created: false } : null;
    });
  }
  const findEarlier = createBatches(findAllEarlier, { maxItems: MAX_PETS });

  async function findAll(ids: readonly object[]): Promise<(Pet | null)[]> {
    const rows = await resultsOf<PetRow | null>(read, PET_STATEMENTS.find, ids);
    return rows.map((row) => row && petOf(row));
  }

  const pages = (statement: RecordStatement) => {
    const readLongest = async (selections: readonly PetSelection[]) => {
      const rows = await resultsOf<readonly PetRow[]>(read, statement, selections);
      return rows.map((page) => page.map(petOf));
    };
    return createBatches<PetSelection, readonly Pet[]>((selections) => readPages(selections, readLongest), {
      maxItems: MAX_PAGES,
    });
  };

  return {
    // One at a time: the ids of a batch are above those of the batch before.
    create: createBatches(create, { maxItems: MAX_PETS }),
    find: createBatches<{ readonly id: bigint }, Pet | null>(findAll, { maxItems: MAX_PETS }),
    list: pages(PET_STATEMENTS.list),
    listByStatus: pages(PET_STATEMENTS.listByStatus),
  };
}

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  const pet: Omit<Required<Pet>, 'status'> = { id: BigInt(id), name, categoryId: BigInt(categoryId) };
  return status === null ? pet : { ...pet, status };
}

import type { Pet, PetStatus } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import type { Connection } from './connection.ts';
import type { Row, Statement } from './schema.ts';

const COLUMNS = 'id, name, category_id, status';

/** Pages by status name their index, so that SQLite's choice doesn't change with the data. */
export const PET_SQL = {
  // An insertion that violates the unique index would use up an id.
  create: `INSERT INTO pets
    (name, category_id, status, created_at, idempotency_holder, idempotency_key, idempotency_fingerprint)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
    WHERE NOT EXISTS (SELECT * FROM pets WHERE idempotency_holder = ?5 AND idempotency_key = ?6)
    RETURNING id`,
  findCreated: 'SELECT id, idempotency_fingerprint FROM pets WHERE idempotency_holder = ? AND idempotency_key = ?',
  find: `SELECT ${COLUMNS} FROM pets WHERE id = ?`,
  list: `SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`,
  listByStatus: `SELECT ${COLUMNS} FROM pets INDEXED BY pets_by_status WHERE status = ? AND id > ? ORDER BY id LIMIT ?`,
} as const;

/** Creates a pet and rolls back: it changes every table and index that a creation changes. No client's key has a space. */
export const TRY_CREATING: readonly Statement[] = [
  ['SAVEPOINT attempt'],
  [PET_SQL.create, 'Rex', 0n, 'available', 0, '', ' ', ''],
  ['ROLLBACK TO attempt'],
  ['RELEASE attempt'],
];

export function createPetStore({ read, write }: Connection): PetStore {
  return {
    async add({ name, categoryId, status = null }, idempotency) {
      const { holder = null, key = null, fingerprint = null } = idempotency ?? {};
      const [[created] = [], [stored] = []] = await write(
        [PET_SQL.create, name, categoryId, status, Date.now(), holder, key, fingerprint],
        [PET_SQL.findCreated, holder, key],
      );
      const [id, storedFingerprint] = created === undefined ? (stored as Row) : [created[0], fingerprint];
      // An equal fingerprint means an equal pet.
      if (storedFingerprint !== fingerprint) return null;
      return { pet: petOf([id as bigint, name, categoryId, status]), created: created !== undefined };
    },

    async find(id) {
      const [pet] = await read(petsOf, PET_SQL.find, id);
      return pet ?? null;
    },

    list: ({ status, after, limit }) =>
      status === undefined
        ? read(petsOf, PET_SQL.list, after, limit)
        : read(petsOf, PET_SQL.listByStatus, status, after, limit),
  };
}

function petsOf(rows: readonly Row[]): readonly Pet[] {
  return rows.map(petOf);
}

function petOf(row: Row): Pet {
  const [id, name, categoryId, status] = row as [bigint, string, bigint, PetStatus | null];
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}

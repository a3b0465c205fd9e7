import type { Methods } from '@animal-store/adapter-kit';
import type { Pet, PetStatus } from '@animal-store/domain';
import type { PetRepository, SelectionBy } from '@animal-store/domain/ports';
import { type File, read, write } from './open.ts';
import type { Row, Statement } from './schema.ts';

export const COLUMNS = 'id, name, category_id, status';
export type PetRow = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus | null];

const INSERT = `INSERT INTO pets
  (name, category_id, status, created_at, idempotency_holder, idempotency_key, idempotency_fingerprint)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** Pages by status name their index, so that SQLite's choice doesn't change with the data. */
export const PET_SQL = {
  create: `${INSERT} RETURNING id`,
  findCreated: 'SELECT id, idempotency_fingerprint FROM pets WHERE idempotency_holder = ? AND idempotency_key = ?',
  find: `SELECT ${COLUMNS} FROM pets WHERE id = ?`,
  list: `SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`,
  listByStatus: `SELECT ${COLUMNS} FROM pets INDEXED BY pets_by_status WHERE status = ? AND id > ? ORDER BY id LIMIT ?`,
} as const;

/** Creates a pet and rolls back: it changes every table and index that a creation changes. No client's key has a space. */
export const TRY_CREATING: readonly Statement[] = [
  ['SAVEPOINT attempt'],
  [INSERT, 'Rex', 0n, 'available', 0, '', ' ', ''],
  ['ROLLBACK TO attempt'],
  ['RELEASE attempt'],
];

export const pets: Methods<PetRepository, File> = {
  async add(call, { name, categoryId, status = null }, idempotency) {
    const { holder = null, key = null, fingerprint = null } = idempotency ?? {};
    // The query comes first: an insertion that violates the unique index would use up an id.
    const query: Statement[] = key === null ? [] : [[PET_SQL.findCreated, holder, key]];
    const insertion: Statement = [PET_SQL.create, name, categoryId, status, Date.now(), holder, key, fingerprint];
    const [[id, earlier] = []] = (await write(call, ...query, insertion)) as [[bigint, string?]?];
    const created = earlier === undefined;
    // An equal fingerprint means an equal pet.
    return created || earlier === fingerprint
      ? { pet: petOf([id as bigint, name, categoryId, status]), created }
      : null;
  },

  find: async (call, id) => (await read(call, petsOf, PET_SQL.find, id))[0] ?? null,

  list: (call, { status, after, limit }: SelectionBy<'status'>) =>
    status === undefined
      ? read(call, petsOf, PET_SQL.list, after, limit)
      : read(call, petsOf, PET_SQL.listByStatus, status, after, limit),
};

const petsOf = (rows: readonly Row[]): readonly Pet[] => (rows as readonly PetRow[]).map(petOf);

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  return status === null ? { id, name, categoryId } : ({ id, name, categoryId, status } satisfies Required<Pet>);
}

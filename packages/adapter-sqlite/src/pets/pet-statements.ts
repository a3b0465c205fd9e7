// The writer thread uses it: no package may be imported here, only its types.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Pet, PetStatus } from '@animal-store/domain';
import type { PetSelection } from '@animal-store/domain/ports';

const COLUMNS = 'id, name, category_id, status';

/** Pages by status name their index, so that SQLite's choice doesn't change with the data. */
export const PET_SQL = {
  create: `INSERT INTO pets (name, category_id, status, idempotency_holder, idempotency_key, idempotency_fingerprint)
    VALUES (?, ?, ?, ?, ?, ?)`,
  findCreated:
    'SELECT id, idempotency_fingerprint AS fingerprint FROM pets WHERE idempotency_holder = ? AND idempotency_key = ?',
  find: `SELECT ${COLUMNS} FROM pets WHERE id = ?`,
  list: `SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`,
  listByStatus: `SELECT ${COLUMNS} FROM pets INDEXED BY pets_by_status WHERE status = ? AND id > ? ORDER BY id LIMIT ?`,
} as const;

export function preparePetReads(db: DatabaseSync) {
  const find = preparedForRows(db, PET_SQL.find);
  const list = preparedForRows(db, PET_SQL.list);
  const listByStatus = preparedForRows(db, PET_SQL.listByStatus);
  return {
    find(id: bigint): Pet | null {
      const row = find.get(id) as unknown as PetRow | undefined;
      return row === undefined ? null : petOf(row);
    },

    list({ status, after, limit }: PetSelection): Pet[] {
      const rows = status === undefined ? list.all(after, limit) : listByStatus.all(status, after, limit);
      return (rows as unknown as PetRow[]).map(petOf);
    },
  };
}

export function preparePetWrites(db: DatabaseSync) {
  const create = db.prepare(PET_SQL.create);
  const findCreated = db.prepare(PET_SQL.findCreated);
  return {
    /** Creates a pet, or finds the earlier one: see `PetStore.add`. */
    createPet(
      name: string,
      categoryId: bigint,
      status: PetStatus | null,
      holder: string | null,
      key: string | null,
      fingerprint: string | null,
    ): { id: number; created: boolean } | null {
      // The query comes before the insertion, because an insertion that violates the unique index uses up an id.
      const earlier = key === null ? undefined : (findCreated.get(holder, key) as EarlierRow | undefined);
      if (earlier !== undefined) return earlier.fingerprint === fingerprint ? { id: earlier.id, created: false } : null;
      const { lastInsertRowid } = create.run(name, categoryId, status, holder, key, fingerprint);
      return { id: Number(lastInsertRowid), created: true };
    },
  };
}

type PetRow = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus | null];

interface EarlierRow {
  readonly id: number;
  readonly fingerprint: string;
}

/** Rows are arrays, which takes half the time of objects. */
function preparedForRows(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  return statement;
}

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}

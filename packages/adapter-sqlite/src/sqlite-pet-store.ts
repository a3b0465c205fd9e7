import { LIMITS, type NewPet, type Pet, type PetStatus } from '@animal-store/domain';
import type { IdempotentCreate, PetStore } from '@animal-store/domain/ports';
import type { Connection } from './connection.ts';

const COLUMNS = 'id, name, category_id, status';

/** Pages by status name their index, so that SQLite does not change its mind with the data. */
export const PET_SQL = {
  add: `INSERT INTO pets (name, category_id, status, addition_holder, addition_key, addition_fingerprint)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (addition_holder, addition_key) WHERE addition_key IS NOT NULL DO NOTHING`,
  findAddition: `SELECT ${COLUMNS}, addition_fingerprint FROM pets WHERE addition_holder = ? AND addition_key = ?`,
  find: `SELECT ${COLUMNS} FROM pets WHERE id = ?`,
  list: `SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`,
  listByStatus: `SELECT ${COLUMNS} FROM pets INDEXED BY pets_by_status WHERE status = ? AND id > ? ORDER BY id LIMIT ?`,
} as const;

interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly category_id: bigint;
  readonly status: PetStatus | null;
  readonly addition_fingerprint?: string;
}

export function createSqlitePetStore({ prepare, call }: Connection): PetStore {
  const statements = {
    add: prepare(PET_SQL.add),
    findAddition: prepare(PET_SQL.findAddition),
    find: prepare(PET_SQL.find),
    list: prepare(PET_SQL.list),
    listByStatus: prepare(PET_SQL.listByStatus),
  };

  /** The animal that was stored under holder and key; null where they stand for another fingerprint. */
  function added({ holder, key, fingerprint }: IdempotentCreate): Pet | null {
    const row = statements.findAddition.get(holder, key) as unknown as PetRow;
    return row.addition_fingerprint === fingerprint ? petOf(row) : null;
  }

  function add(newPet: NewPet, addition?: IdempotentCreate): Pet | null {
    const { name, categoryId, status } = newPet;
    const { holder = null, key = null, fingerprint = null } = addition ?? {};
    // Without RETURNING: get() would end the statement after its row, and hide that the commit failed.
    const { changes, lastInsertRowid } = statements.add.run(name, categoryId, status ?? null, holder, key, fingerprint);
    if (Number(changes) === 0) return added(addition as IdempotentCreate);
    return petOf({ id: BigInt(lastInsertRowid), name, category_id: categoryId, status: status ?? null });
  }

  return {
    add: (newPet, addition) => call(() => add(newPet, addition)),

    find(id) {
      if (id < LIMITS.id.min || id > LIMITS.id.max) return null;
      return call(() => {
        const row = statements.find.get(id) as unknown as PetRow | undefined;
        return row === undefined ? null : petOf(row);
      });
    },

    list: ({ status, after, limit }) =>
      call(() => {
        const rows =
          status === undefined ? statements.list.all(after, limit) : statements.listByStatus.all(status, after, limit);
        return (rows as unknown as PetRow[]).map(petOf);
      }),
  };
}

function petOf({ id, name, category_id: categoryId, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}

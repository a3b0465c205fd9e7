import type { Methods } from '@animal-store/adapter-kit';
import type { Idempotency, PetArchive, StoredPet } from '@animal-store/domain/ports';
import { type File, read, write } from './open.ts';
import { COLUMNS, type PetRow, petOf } from './pets.ts';
import { type Row, type Statement, timeOf } from './schema.ts';

const ALL_COLUMNS = `${COLUMNS}, created_at, idempotency_holder, idempotency_key, idempotency_fingerprint`;

/** The last id that was assigned or skipped. SQLite, too, continues after the last pet if a tool has lost the counter. */
export const LAST_ID = `SELECT max(
  ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'pets'), 0), ifnull((SELECT max(id) FROM pets), 0)) AS last`;

export const ARCHIVE_SQL = {
  lastId: LAST_ID,
  read: `SELECT ${ALL_COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`,
  restore: `INSERT INTO pets (${ALL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
    ON CONFLICT (idempotency_holder, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING`,
} as const;

export const archive: Methods<PetArchive, File> = {
  read: (call, after, limit) => read(call, storedPetsOf, ARCHIVE_SQL.read, after, limit),

  async restore(call, pets) {
    await write(
      call,
      ...pets.map(({ id, name, categoryId, status = null, createdAt, idempotency }): Statement => {
        const { holder = null, key = null, fingerprint = null } = idempotency ?? {};
        return [ARCHIVE_SQL.restore, id, name, categoryId, status, createdAt, holder, key, fingerprint];
      }),
    );
  },

  lastId: (call) => read(call, ([row]) => row?.[0] as bigint, ARCHIVE_SQL.lastId),

  async skipIds(call, lastId) {
    await write(call, ...skipIds(lastId));
  },
};

/** Raises the counter of ids. */
export const skipIds = (to: bigint): readonly Statement[] => [
  ["INSERT INTO sqlite_sequence SELECT 'pets', 0 WHERE NOT EXISTS (SELECT * FROM sqlite_sequence WHERE name = 'pets')"],
  ["UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'pets'", to],
];

function storedPetsOf(rows: readonly Row[]): readonly StoredPet[] {
  return rows.map((row) => {
    const [createdAt, holder, key, fingerprint] = row.slice(4) as [bigint, ...(string | null)[]];
    const pet = { ...petOf(row as PetRow), createdAt: timeOf(createdAt) };
    return key === null ? pet : { ...pet, idempotency: { holder, key, fingerprint } as Idempotency };
  });
}

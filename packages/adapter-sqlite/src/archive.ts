import type { Methods } from '@animal-store/adapter-kit';
import type { Idempotency, PetArchive, StoredPet } from '@animal-store/domain/ports';
import { type File, read, write } from './open.ts';
import { petOf } from './pets.ts';
import { type Row, STORED_PET, type Statement, timeOf } from './schema.ts';

/** The last id that was assigned or skipped. SQLite, too, continues after the last pet if a tool has lost the counter. */
export const LAST_ID = `SELECT max(
  ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'pets'), 0), ifnull((SELECT max(id) FROM pets), 0)) AS last`;

export const ARCHIVE_SQL = {
  lastId: LAST_ID,
  read: `SELECT ${STORED_PET.names} FROM pets WHERE id > ? ORDER BY id LIMIT ?`,
  restore: `INSERT INTO pets (${STORED_PET.names}) VALUES (${STORED_PET.parameters}) ON CONFLICT (id) DO NOTHING
    ON CONFLICT (idempotency_holder, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING`,
} as const;

export const archive: Methods<PetArchive, File> = {
  read: (call, after, limit) => read(call, storedPetsOf, ARCHIVE_SQL.read, after, limit),

  async restore(call, pets) {
    await write(
      call,
      ...pets.map(({ id, name, categoryId, status = null, createdAt, idempotency }): Statement => {
        const { holder = null, key = null, fingerprint = null } = idempotency ?? {};
        const ofKey = { idempotencyHolder: holder, idempotencyKey: key, idempotencyFingerprint: fingerprint };
        return STORED_PET.statementOf(ARCHIVE_SQL.restore, { id, name, categoryId, status, createdAt, ...ofKey });
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

const { at } = STORED_PET;

function storedPetsOf(rows: readonly Row[]): readonly StoredPet[] {
  return rows.map((row) => {
    const pet = { ...petOf(row), createdAt: timeOf(row[at.createdAt] as bigint) };
    const [holder, key, fingerprint] = [at.idempotencyHolder, at.idempotencyKey, at.idempotencyFingerprint].map(
      (position) => row[position],
    );
    return key === null ? pet : { ...pet, idempotency: { holder, key, fingerprint } as Idempotency };
  });
}

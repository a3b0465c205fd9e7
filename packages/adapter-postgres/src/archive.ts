import type { Methods } from '@animal-store/adapter-kit';
import type { Idempotency, PetArchive } from '@animal-store/domain/ports';
import { NEW_ROW } from './columns.ts';
import { fromTime, toTime } from './keys.ts';
import type { Database } from './open.ts';
import { COLUMNS, MEMBER_TYPES, MEMBERS, PET, type PetRow, petOf, UNLESS_REPEATED } from './pets.ts';
import { IN_TIME, jsonOf, type Statement, statement, writeGiven } from './statements.ts';

/** Raises the counter of ids to one that it counts: an administrator may let it count in steps, for several servers. */
const raisedTo = (id: string) => `SELECT setval('pets_id_seq', greatest(${id}, least(seqmax,
    last_value + seqincrement * ceil(greatest(0, ${id} - last_value)::numeric / seqincrement)))::bigint)
  FROM pets_id_seq, pg_sequence WHERE seqrelid = 'pets_id_seq'::regclass`;

export const ARCHIVE_STATEMENTS = {
  read: statement(`SELECT to_json(ARRAY(
    SELECT json_build_array(${PET}, ${fromTime('created_at')}, CASE WHEN ${NEW_ROW.key.column} IS NOT NULL THEN
      json_build_object('holder', ${NEW_ROW.holder.column}, 'key', ${NEW_ROW.key.column},
        'fingerprint', ${NEW_ROW.fingerprint.column}) END)
    FROM pets WHERE id > $1 ORDER BY id LIMIT $2))`),
  // A sequence has a first value before it has assigned one.
  lastId: statement('SELECT (CASE WHEN is_called THEN last_value ELSE 0 END)::text FROM pets_id_seq'),
  skipIds: statement(`${raisedTo('$2::bigint')} AND ${IN_TIME}`),
  restore: statement(`WITH restored AS (
      INSERT INTO pets (id, ${COLUMNS}, created_at) OVERRIDING SYSTEM VALUE
      SELECT id, ${MEMBERS}, ${toTime('"createdAt"')}
      FROM ${writeGiven({ id: 'bigint', ...MEMBER_TYPES, createdAt: 'bigint' }).many}
      WHERE NOT EXISTS (SELECT FROM pets WHERE pets.id = given.id)
      ORDER BY number ${UNLESS_REPEATED}
    )
    ${raisedTo('$3::bigint')}`),
} as const satisfies Record<string, Statement>;

type StoredRow = readonly [pet: PetRow, createdAt: number, Idempotency | null];

export const archive: Methods<PetArchive, Database> = {
  async read(call, after, limit) {
    const rows = await call.connection.read<StoredRow[]>(ARCHIVE_STATEMENTS.read, [after, limit], call);
    return rows.map(([pet, createdAt, idempotency]) => ({
      ...petOf(pet),
      createdAt,
      ...(idempotency && { idempotency }),
    }));
  },

  async restore(call, pets) {
    const records = pets.map(({ idempotency, ...pet }) => ({ ...pet, ...idempotency }));
    const highest = pets.at(-1)?.id ?? 1n;
    await call.connection.write(ARCHIVE_STATEMENTS.restore, [jsonOf(records), highest], call);
  },

  async lastId(call) {
    return BigInt(await call.connection.read<string>(ARCHIVE_STATEMENTS.lastId, [], call));
  },

  async skipIds(call, lastId) {
    await call.connection.write(ARCHIVE_STATEMENTS.skipIds, [lastId], call);
  },
};

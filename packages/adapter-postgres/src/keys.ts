import type { Methods } from '@animal-store/adapter-kit';
import { type ApiKey, LIMITS } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import { API_KEY, columnsOf } from './columns.ts';
import type { Database } from './open.ts';
import { IN_TIME, type Statement, statement, WAIT_FOR_STANDBYS } from './statements.ts';

/** The first time that the server stores, 24 November 4714 BC, in milliseconds since the epoch. */
const FIRST = -210_866_803_200_000;

/**
 * A time of the domain, in whole milliseconds since the epoch, as the server stores it: an earlier one than its first as
 * `-infinity`. Days and milliseconds stay exact; `to_timestamp` rounds times after the year 141,000.
 */
export const toTime = (value: string) =>
  `CASE WHEN ${value}::bigint < ${FIRST} THEN timestamptz '-infinity' ELSE
    (timestamp 'epoch' + ${value}::bigint / 86400000 * interval '1 day' + ${value}::bigint % 86400000 * interval '1 ms')
      AT TIME ZONE 'UTC' END`;

/** The same time, or the farthest one of the domain for one beyond it, such as `infinity`. */
export const fromTime = (column: string) =>
  `CASE WHEN ${column} IS NOT NULL THEN
    greatest(${LIMITS.time.min}, least(${LIMITS.time.max}, round(extract(epoch FROM ${column}) * 1000)))::bigint END`;

const MEMBERS = Object.keys(API_KEY) as readonly (keyof ApiKey)[];
const ENTRIES = Object.values(API_KEY).map(({ column, type }) => ({ column, isTime: type === 'timestamptz' }));

const RECORD = `json_build_object(${ENTRIES.map(
  ({ column, isTime }, index) => `'${MEMBERS[index]}', ${isTime ? fromTime(column) : column}`,
)})`;

export const KEY_STATEMENTS = {
  add: statement(`WITH added AS (
      INSERT INTO api_keys (${columnsOf(API_KEY)})
      SELECT ${ENTRIES.map(({ isTime }, index) => (isTime ? toTime(`$${index + 2}`) : `$${index + 2}`))}
      WHERE ${IN_TIME} ON CONFLICT DO NOTHING
    ) SELECT ${WAIT_FOR_STANDBYS}`),
  find: statement(`SELECT ${RECORD} FROM api_keys WHERE digest = $1`),
  list: statement(`SELECT to_json(ARRAY(SELECT ${RECORD} FROM api_keys WHERE id > $1 ORDER BY id LIMIT $2))`),
  revoke: statement(`UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${toTime('$3')}) WHERE id = $2 AND ${IN_TIME}
    RETURNING ${RECORD}`),
  recordUse: statement(`UPDATE api_keys SET last_used_at = ${toTime('$3')} WHERE id = $2 AND ${IN_TIME}`),
} as const satisfies Record<string, Statement>;

export const keys: Methods<ApiKeyRepository, Database> = {
  async add(call, record) {
    const values = MEMBERS.map((name) => record[name]);
    await call.connection.write(KEY_STATEMENTS.add, values, call);
  },

  find: (call, digest) => call.connection.read<ApiKey | null>(KEY_STATEMENTS.find, [digest], call),

  list: (call, { after, limit }) => call.connection.read<ApiKey[]>(KEY_STATEMENTS.list, [after, limit], call),

  revoke: (call, id, at) => call.connection.write<ApiKey | null>(KEY_STATEMENTS.revoke, [id, at], call),

  async recordUse(call, id, at) {
    await call.connection.write(KEY_STATEMENTS.recordUse, [id, at], call);
  },
};

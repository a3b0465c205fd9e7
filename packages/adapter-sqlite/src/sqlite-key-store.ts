import type { ApiKey } from '@animal-store/domain';
import type { KeyStore } from '@animal-store/domain/ports';
import type { Connection } from './connection.ts';

const COLUMNS = `id, digest, visible_prefix AS visiblePrefix, holder, created_at AS createdAt, expires_at AS expiresAt,
  revoked_at AS revokedAt, last_used_at AS lastUsedAt`;

export const KEY_SQL = {
  add: 'INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  find: `SELECT ${COLUMNS} FROM api_keys WHERE digest = ?`,
  findById: `SELECT ${COLUMNS} FROM api_keys WHERE id = ?`,
  list: `SELECT ${COLUMNS} FROM api_keys ORDER BY created_at, id`,
  revoke: 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  recordUse: 'UPDATE api_keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)',
} as const;

export function createSqliteKeyStore(connection: Connection): KeyStore {
  const { call } = connection;
  const statements = {
    add: prepare(KEY_SQL.add),
    find: prepare(KEY_SQL.find),
    findById: prepare(KEY_SQL.findById),
    list: prepare(KEY_SQL.list),
    revoke: prepare(KEY_SQL.revoke),
    recordUse: prepare(KEY_SQL.recordUse),
  };

  /** The integers here are times, which are numbers. */
  function prepare(sql: string) {
    const statement = connection.prepare(sql);
    statement.setReadBigInts(false);
    return statement;
  }

  return {
    add: ({ id, digest, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt }) =>
      call(() => {
        statements.add.run(id, digest, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt);
      }),

    find: (digest) => call(() => apiKeyOf(statements.find.get(digest))),

    list: () => call(() => statements.list.all().map((row) => apiKeyOf(row) as ApiKey)),

    revoke: (id, at) =>
      call(() => {
        statements.revoke.run(at, id);
        return apiKeyOf(statements.findById.get(id));
      }),

    recordUse: (id, at) =>
      call(() => {
        statements.recordUse.run(at, id);
      }),
  };
}

/** The columns have the names of the members. Rows have no prototype; records do. */
function apiKeyOf(row: object | undefined): ApiKey | null {
  return row === undefined ? null : ({ ...row } as ApiKey);
}

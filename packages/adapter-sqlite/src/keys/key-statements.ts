// The writer thread uses it: no package may be imported here, only its types.

import type { DatabaseSync } from 'node:sqlite';
import type { ApiKey } from '@animal-store/domain';

const COLUMNS = `id, digest, visible_prefix AS visiblePrefix, holder, created_at AS createdAt, expires_at AS expiresAt,
  revoked_at AS revokedAt, last_used_at AS lastUsedAt`;

export const KEY_SQL = {
  // A later format may have more columns.
  add: `INSERT INTO api_keys
    (id, digest, visible_prefix, holder, created_at, expires_at, revoked_at, last_used_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  find: `SELECT ${COLUMNS} FROM api_keys WHERE digest = ?`,
  findById: `SELECT ${COLUMNS} FROM api_keys WHERE id = ?`,
  list: `SELECT ${COLUMNS} FROM api_keys ORDER BY created_at, id`,
  revoke: 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  prune: 'DELETE FROM api_keys WHERE revoked_at < ?1 OR expires_at < ?1',
  recordUse: 'UPDATE api_keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)',
} as const;

export function prepareKeyReads(db: DatabaseSync) {
  const find = db.prepare(KEY_SQL.find);
  const list = db.prepare(KEY_SQL.list);
  return {
    find: (digest: string) => apiKeyOf(find.get(digest)),
    list: () => list.all().map((row) => apiKeyOf(row) as ApiKey),
  };
}

export function prepareKeyWrites(db: DatabaseSync) {
  const add = db.prepare(KEY_SQL.add);
  const findById = db.prepare(KEY_SQL.findById);
  const revoke = db.prepare(KEY_SQL.revoke);
  const prune = db.prepare(KEY_SQL.prune);
  const recordUse = db.prepare(KEY_SQL.recordUse);
  return {
    addKey({ id, digest, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey): void {
      add.run(id, digest, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt);
    },

    revokeKey(id: string, at: number): ApiKey | null {
      revoke.run(at, id);
      return apiKeyOf(findById.get(id));
    },

    pruneKeys(before: number): number {
      return Number(prune.run(before).changes);
    },

    recordKeyUse(id: string, at: number): void {
      recordUse.run(at, id);
    },
  };
}

/** The columns have the names of the members. Rows have no prototype; records do. */
function apiKeyOf(row: object | undefined): ApiKey | null {
  return row === undefined ? null : ({ ...row } as ApiKey);
}

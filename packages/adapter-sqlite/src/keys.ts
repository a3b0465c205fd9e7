import type { Methods } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import { type File, read, write } from './open.ts';
import { type Row, timeOf } from './schema.ts';

const COLUMNS = 'id, digest, visible_prefix, holder, created_at, expires_at, revoked_at, last_used_at';

export const KEY_SQL = {
  add: `INSERT INTO api_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  find: `SELECT ${COLUMNS} FROM api_keys WHERE digest = ?`,
  findById: `SELECT ${COLUMNS} FROM api_keys WHERE id = ?`,
  list: `SELECT ${COLUMNS} FROM api_keys WHERE id > ? ORDER BY id LIMIT ?`,
  revoke: 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  recordUse: 'UPDATE api_keys SET last_used_at = ? WHERE id = ?',
} as const;

export const keys: Methods<ApiKeyRepository, File> = {
  async add(call, { id, digest, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt }) {
    await write(call, [KEY_SQL.add, id, digest, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt]);
  },

  find: async (call, digest) => (await read(call, keysOf, KEY_SQL.find, digest))[0] ?? null,

  list: (call, { after, limit }) => read(call, keysOf, KEY_SQL.list, after, limit),

  revoke: async (call, id, at) =>
    keysOf(await write(call, [KEY_SQL.revoke, at, id], [KEY_SQL.findById, id]))[0] ?? null,

  async recordUse(call, id, at) {
    await write(call, [KEY_SQL.recordUse, at, id]);
  },
};

function keysOf(rows: readonly Row[]): readonly ApiKey[] {
  return rows.map((row) => {
    const [id, digest, visiblePrefix, holder, ...times] = row;
    const [createdAt, expiresAt, revokedAt, lastUsedAt] = times.map((time) =>
      time === null ? null : timeOf(time as bigint),
    );
    return { id, digest, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt } as ApiKey;
  });
}

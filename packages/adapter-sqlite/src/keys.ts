import type { Methods } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { ApiKeyRepository } from '@animal-store/domain/ports';
import { type File, read, write } from './open.ts';
import { KEY, type Row, timeOf } from './schema.ts';

export const KEY_SQL = {
  add: `INSERT INTO api_keys (${KEY.names}) VALUES (${KEY.parameters}) ON CONFLICT DO NOTHING`,
  find: `SELECT ${KEY.names} FROM api_keys WHERE digest = ?`,
  findById: `SELECT ${KEY.names} FROM api_keys WHERE id = ?`,
  list: `SELECT ${KEY.names} FROM api_keys WHERE id > ? ORDER BY id LIMIT ?`,
  revoke: 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  recordUse: 'UPDATE api_keys SET last_used_at = ? WHERE id = ?',
} as const;

export const keys: Methods<ApiKeyRepository, File> = {
  async add(call, key) {
    await write(call, KEY.statementOf(KEY_SQL.add, key));
  },

  find: async (call, digest) => (await read(call, keysOf, KEY_SQL.find, digest))[0] ?? null,

  list: (call, { after, limit }) => read(call, keysOf, KEY_SQL.list, after, limit),

  revoke: async (call, id, at) =>
    keysOf(await write(call, [KEY_SQL.revoke, at, id], [KEY_SQL.findById, id]))[0] ?? null,

  async recordUse(call, id, at) {
    await write(call, [KEY_SQL.recordUse, at, id]);
  },
};

const { at } = KEY;

function keysOf(rows: readonly Row[]): readonly ApiKey[] {
  return rows.map((row) => {
    const timeAt = (position: number) => (row[position] === null ? null : timeOf(row[position] as bigint));
    return {
      id: row[at.id] as string,
      digest: row[at.digest] as string,
      visiblePrefix: row[at.visiblePrefix] as string,
      holder: row[at.holder] as string,
      createdAt: timeOf(row[at.createdAt] as bigint),
      expiresAt: timeAt(at.expiresAt),
      revokedAt: timeAt(at.revokedAt),
      lastUsedAt: timeAt(at.lastUsedAt),
    };
  });
}

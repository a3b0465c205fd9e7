import { createBatches } from '@animal-store/adapter-kit';
import type { ApiKey } from '@animal-store/domain';
import type { KeyStore } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import { fromStored, toStored } from '../connection/text.ts';
import type { TimeLimits } from '../time-limits.ts';

const RECORD = `json_build_object('id', id, 'digest', digest, 'visiblePrefix', visible_prefix, 'holder', holder,
  'createdAt', created_at, 'expiresAt', expires_at, 'revokedAt', revoked_at, 'lastUsedAt', last_used_at)`;

export const KEY_SQL = {
  // A later format may have more columns.
  add: `INSERT INTO api_keys (id, digest, visible_prefix, holder, created_at, expires_at, revoked_at, last_used_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
  find: `SELECT ${RECORD} FROM api_keys WHERE digest = ANY ($1::text[])`,
  list: `SELECT ${RECORD} FROM api_keys ORDER BY created_at, id`,
  revoke: `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING ${RECORD}`,
  prune: 'DELETE FROM api_keys WHERE revoked_at < $1 OR expires_at < $1 RETURNING id',
  recordUse: 'UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)',
} as const;

/** How many keys one query looks up at most: a fraction of a megabyte if all of them exist. */
const MAX_KEYS = 1_000;

export function createPostgresKeyStore({ query, call }: Connection, { batch }: TimeLimits): KeyStore {
  // One query at a time. Clients can make keys with a valid checksum, so one query for each would let them choose the
  // load of the database.
  const find = createBatches<string, ApiKey | null>(
    async (digests) => {
      const keys = (await query<[string]>(KEY_SQL.find, [...digests])).map(apiKeyOf);
      const found = new Map(keys.map((key) => [key.digest, key]));
      return digests.map((digest) => found.get(digest) ?? null);
    },
    { maxItems: MAX_KEYS, timeout: batch },
  );

  return {
    async add({ id, digest, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt }) {
      const values = [id, digest, visiblePrefix, toStored(holder), createdAt, expiresAt, revokedAt, lastUsedAt];
      await call(() => query(KEY_SQL.add, ...values));
    },

    find: (digest) => call(() => find(digest)),

    list: () => call(async () => (await query<[string]>(KEY_SQL.list)).map(apiKeyOf)),

    revoke: (id, at) =>
      call(async () => {
        const [row] = await query<[string]>(KEY_SQL.revoke, id, at);
        return row === undefined ? null : apiKeyOf(row);
      }),

    prune: (before) => call(async () => (await query(KEY_SQL.prune, before)).length),

    async recordUse(id, at) {
      await call(() => query(KEY_SQL.recordUse, id, at));
    },
  };
}

/** Frozen, so that it can be handed out more than once. */
function apiKeyOf([json]: readonly [string]): ApiKey {
  const record: ApiKey = JSON.parse(json);
  return Object.freeze({ ...record, holder: fromStored(record.holder) });
}

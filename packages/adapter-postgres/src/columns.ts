import type { ApiKey, NewPet } from '@animal-store/domain';
import type { Idempotency } from '@animal-store/domain/ports';

/** A new pet with its idempotency key. */
export type NewRow = NewPet & Partial<Idempotency>;

/** Where each member of a new pet is stored, and its type in statements. */
export const NEW_ROW = {
  name: { column: 'name', type: 'text' },
  categoryId: { column: 'category_id', type: 'bigint' },
  status: { column: 'status', type: 'text' },
  holder: { column: 'idempotency_holder', type: 'text' },
  key: { column: 'idempotency_key', type: 'text' },
  fingerprint: { column: 'idempotency_fingerprint', type: 'text' },
} as const satisfies Readonly<Record<keyof NewRow, { column: string; type: string }>>;

/** Where each member of the record of an API key is stored. */
export const API_KEY = {
  id: { column: 'id', isTime: false },
  digest: { column: 'digest', isTime: false },
  visiblePrefix: { column: 'visible_prefix', isTime: false },
  holder: { column: 'holder', isTime: false },
  createdAt: { column: 'created_at', isTime: true },
  expiresAt: { column: 'expires_at', isTime: true },
  revokedAt: { column: 'revoked_at', isTime: true },
  lastUsedAt: { column: 'last_used_at', isTime: true },
} as const satisfies Readonly<Record<keyof ApiKey, { column: string; isTime: boolean }>>;

/** The columns of such a list, in its order. */
export const columnsOf = (members: Readonly<Record<string, { readonly column: string }>>): readonly string[] =>
  Object.values(members).map(({ column }) => column);

import type { ApiKey, NewPet } from '@animal-store/domain';
import type { Idempotency } from '@animal-store/domain/ports';

/** The column of each member of a record. */
type Columns<Member extends string> = Readonly<
  Record<
    Member,
    { readonly column: string; readonly type: 'text' | 'bigint' | 'timestamptz'; readonly nullable?: true }
  >
>;

/** A new pet with its idempotency key. */
export type NewRow = NewPet & Partial<Idempotency>;

/** Where each member of a new pet is stored. */
export const NEW_ROW = {
  name: { column: 'name', type: 'text' },
  categoryId: { column: 'category_id', type: 'bigint' },
  status: { column: 'status', type: 'text', nullable: true },
  holder: { column: 'idempotency_holder', type: 'text', nullable: true },
  key: { column: 'idempotency_key', type: 'text', nullable: true },
  fingerprint: { column: 'idempotency_fingerprint', type: 'text', nullable: true },
} as const satisfies Columns<keyof NewRow>;

/** Where each member of the record of an API key is stored. */
export const API_KEY = {
  id: { column: 'id', type: 'text' },
  digest: { column: 'digest', type: 'text' },
  visiblePrefix: { column: 'visible_prefix', type: 'text' },
  holder: { column: 'holder', type: 'text' },
  createdAt: { column: 'created_at', type: 'timestamptz' },
  expiresAt: { column: 'expires_at', type: 'timestamptz', nullable: true },
  revokedAt: { column: 'revoked_at', type: 'timestamptz', nullable: true },
  lastUsedAt: { column: 'last_used_at', type: 'timestamptz', nullable: true },
} as const satisfies Columns<keyof ApiKey>;

/** The columns of such a list, in its order. */
export const columnsOf = (members: Columns<string>): readonly string[] =>
  Object.values(members).map(({ column }) => column);

/** The same for `CREATE TABLE`. The collation "C" compares bytes: no update of the operating system changes an index. */
export const declarationsOf = (members: Columns<string>): readonly string[] =>
  Object.values(members).map(
    ({ column, type, nullable }) =>
      `${column} ${type}${type === 'text' ? ' COLLATE "C"' : ''}${nullable ? '' : ' NOT NULL'}`,
  );

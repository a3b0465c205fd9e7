import type { Methods } from '@animal-store/adapter-kit';
import type { Pet, PetStatus } from '@animal-store/domain';
import type { PetRepository, SelectionBy } from '@animal-store/domain/ports';
import { type File, read, write } from './open.ts';
import { NEW_PET, PET, type Row, type Statement } from './schema.ts';

const INSERT = `INSERT INTO pets (${NEW_PET.names}) VALUES (${NEW_PET.parameters})`;

/** Pages by status name their index, so that SQLite's choice doesn't change with the data. */
export const PET_SQL = {
  create: `${INSERT} RETURNING id`,
  findCreated: 'SELECT id, idempotency_fingerprint FROM pets WHERE idempotency_holder = ? AND idempotency_key = ?',
  find: `SELECT ${PET.names} FROM pets WHERE id = ?`,
  list: `SELECT ${PET.names} FROM pets WHERE id > ? ORDER BY id LIMIT ?`,
  listByStatus: `SELECT ${PET.names} FROM pets INDEXED BY pets_by_status WHERE status = ? AND id > ? ORDER BY id LIMIT ?`,
} as const;

/** Creates a pet and rolls back: it changes every table and index that a creation changes. No client's key has a space. */
export const TRY_CREATING: readonly Statement[] = [
  ['SAVEPOINT attempt'],
  NEW_PET.statementOf(INSERT, {
    name: 'Rex',
    categoryId: 0n,
    status: 'available',
    createdAt: 0,
    idempotencyHolder: '',
    idempotencyKey: ' ',
    idempotencyFingerprint: '',
  }),
  ['ROLLBACK TO attempt'],
  ['RELEASE attempt'],
];

export const pets: Methods<PetRepository, File> = {
  async add(call, { name, categoryId, status = null }, idempotency) {
    const { holder = null, key = null, fingerprint = null } = idempotency ?? {};
    // The query comes first: an insertion that violates the unique index would use up an id.
    const query: Statement[] = key === null ? [] : [[PET_SQL.findCreated, holder, key]];
    const insertion = NEW_PET.statementOf(PET_SQL.create, {
      name,
      categoryId,
      status,
      createdAt: Date.now(),
      idempotencyHolder: holder,
      idempotencyKey: key,
      idempotencyFingerprint: fingerprint,
    });
    const [[id, earlier] = []] = (await write(call, ...query, insertion)) as [[bigint, string?]?];
    const created = earlier === undefined;
    // An equal fingerprint means an equal pet.
    if (!created && earlier !== fingerprint) return null;
    return { pet: withoutNull({ id: id as bigint, name, categoryId, status }), created };
  },

  find: async (call, id) => (await read(call, petsOf, PET_SQL.find, id))[0] ?? null,

  list: (call, { status, after, limit }: SelectionBy<'status'>) =>
    status === undefined
      ? read(call, petsOf, PET_SQL.list, after, limit)
      : read(call, petsOf, PET_SQL.listByStatus, status, after, limit),
};

const petsOf = (rows: readonly Row[]): readonly Pet[] => rows.map(petOf);

const { at } = PET;

export const petOf = (row: Row): Pet =>
  withoutNull({
    id: row[at.id] as bigint,
    name: row[at.name] as string,
    categoryId: row[at.categoryId] as bigint,
    status: row[at.status] as PetStatus | null,
  });

/** A pet as the table has it: with null for members that it lacks. */
type PetRow = {
  readonly [Member in keyof Required<Pet>]: undefined extends Pet[Member]
    ? NonNullable<Pet[Member]> | null
    : Pet[Member];
};

function withoutNull({ id, name, categoryId, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId } : ({ id, name, categoryId, status } satisfies Required<Pet>);
}

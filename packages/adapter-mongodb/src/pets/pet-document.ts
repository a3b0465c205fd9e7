import { LIMITS, type NewPet, PET_STATUSES, type Pet, type PetStatus } from '@animal-store/domain';
import type { Idempotency } from '@animal-store/domain/ports';
import type { CollectionDefinition } from '../connection/collection-definition.ts';

/** A pet as it is stored. A bigint is an int64 both ways; one outside its range would be cut to 64 bits silently. */
export interface PetDocument {
  readonly _id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  /** Absent if none was given. */
  readonly status?: PetStatus;
  /** The idempotency key that it was created with, if any: one write stores both or neither. */
  readonly idempotency?: Idempotency;
}

/** A pet, and the idempotency key that it is created with, before it has an id. */
export type PetWithoutId = Omit<PetDocument, '_id'>;

/** The domain's pattern as the server's regular expressions (PCRE) spell it: their `\v` is a class. */
const NAME_PATTERN_OF_SERVER = LIMITS.name.pattern.source
  .replace('\\v', '\\x0b')
  .replaceAll(/\\u0*([\da-f]+)/g, '\\x{$1}');

/** The rules of the domain, as far as the server can check them; it counts code points, too. */
const SCHEMA: CollectionDefinition['schema'] = {
  required: ['_id', 'name', 'categoryId'],
  properties: {
    _id: { bsonType: 'long', minimum: LIMITS.id.min, maximum: LIMITS.id.maxAssigned },
    name: { bsonType: 'string', maxLength: LIMITS.name.maxLength, pattern: NAME_PATTERN_OF_SERVER },
    categoryId: { bsonType: 'long' },
    status: { enum: [...PET_STATUSES] },
    idempotency: {
      bsonType: 'object',
      required: ['holder', 'key', 'fingerprint'],
      additionalProperties: false,
      properties: {
        holder: { bsonType: 'string' },
        // In the server's patterns `$` also matches before a line feed at the end.
        key: {
          bsonType: 'string',
          maxLength: LIMITS.idempotencyKey.maxLength,
          pattern: `${LIMITS.idempotencyKey.pattern.source}(?!\\n)`,
        },
        fingerprint: { bsonType: 'string' },
      },
    },
  },
};

/** The index of pages by status. Pages of all pets and single pets are served by that of `_id`. */
export const BY_STATUS = { status: 1, _id: 1 } as const;

/** The index by which an idempotency key stands for one pet. */
const BY_IDEMPOTENCY_KEY = { 'idempotency.holder': 1, 'idempotency.key': 1 } as const;

export const PET_COLLECTION: CollectionDefinition = {
  name: 'pets',
  schema: SCHEMA,
  // Both leave out the pets that their queries never look for.
  indexes: [
    { key: BY_STATUS, partialFilterExpression: { status: { $exists: true } } },
    { key: BY_IDEMPOTENCY_KEY, unique: true, partialFilterExpression: { 'idempotency.key': { $exists: true } } },
  ],
};

/** Shares no object with its arguments: the caller may change them while the pet waits. */
export function petWithoutId(newPet: NewPet, idempotency: Idempotency | undefined): PetWithoutId {
  if (idempotency === undefined) return withoutId(newPet);
  const { holder, key, fingerprint } = idempotency;
  return { ...withoutId(newPet), idempotency: { holder, key, fingerprint } };
}

/** Frozen: callers that asked together share it. */
export function petOf({ _id, ...rest }: Omit<PetDocument, 'idempotency'>): Pet {
  return Object.freeze({ id: _id, ...withoutId(rest) });
}

/** No member `status` if there is no status: `undefined` would be stored as null. */
function withoutId({ name, categoryId, status }: NewPet): Omit<PetWithoutId, 'idempotency'> {
  return status === undefined ? { name, categoryId } : { name, categoryId, status };
}

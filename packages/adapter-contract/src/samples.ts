import {
  type ApiKey,
  type IdempotencyKey,
  LIMITS,
  type NewPet,
  PET_STATUSES,
  type Pet,
  type PetStatus,
} from '@animal-store/domain';
import { apiKeyId, fingerprint, type IdempotentCreate } from '@animal-store/domain/ports';
import * as fc from 'fast-check';

/** A pet to create. @param given `status: undefined` is none. */
export function animal({
  status,
  ...given
}: {
  name?: string;
  categoryId?: bigint;
  status?: PetStatus | undefined;
} = {}): NewPet {
  return { name: 'Rex', categoryId: 7n, ...given, ...(status !== undefined && { status }) };
}

/** A named addition of an animal. */
export function additionOf(newPet: NewPet, { holder, key }: IdempotencyKey): IdempotentCreate {
  return { holder, key, fingerprint: fingerprint(newPet) };
}

/** What a stored animal must look like. */
export function asStored(newPet: NewPet, id: bigint): Pet {
  return { id, ...newPet };
}

const names = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: LIMITS.name.maxLength })
  .filter((name) => /\S/.test(name) && [...name].length <= LIMITS.name.maxLength && name.isWellFormed());

const categoryIds = fc.oneof(
  fc.bigInt({ min: LIMITS.categoryId.min, max: LIMITS.categoryId.max }),
  fc.constantFrom(
    LIMITS.categoryId.min,
    LIMITS.categoryId.max,
    0n,
    -1n,
    2n ** 31n,
    2n ** 32n,
    2n ** 53n,
    2n ** 53n + 1n,
  ),
);

/** A status, or none. */
export const maybeStatuses: fc.Arbitrary<PetStatus | undefined> = fc.constantFrom(...PET_STATUSES, undefined);

/** Any animal that can be added. */
export const animals: fc.Arbitrary<NewPet> = fc
  .record({ name: names, categoryId: categoryIds, status: maybeStatuses })
  .map(animal);

/** Any idempotency key, some of them as long as can be. */
export const idempotencyKeys: fc.Arbitrary<string> = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: LIMITS.idempotencyKey.maxLength,
});

let made = 0;

/** The record of a key that no other call returns. */
export function apiKey(given: Partial<ApiKey> = {}): ApiKey {
  made += 1;
  const digest = made.toString(16).padStart(16, '0').padEnd(64, 'c0ffee');
  return {
    id: apiKeyId(digest),
    digest,
    visiblePrefix: 'anst_0000',
    holder: 'the zoo',
    createdAt: 1_800_000_000_000,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...given,
  };
}

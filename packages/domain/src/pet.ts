import { invalidRequest } from './domain-error.ts';
import { INT64_MAX, INT64_MIN } from './int64.ts';
import { isPetStatus, PET_STATUSES, type PetStatus } from './pet-status.ts';
import { type NumberLiteral, quote } from './quote.ts';

/** The longest name an animal can have, in Unicode code points. */
export const NAME_MAX_LENGTH = 200;

/**
 * What a name must contain: a character that is not white space as ECMAScript's `\s` has it. Spelt out, since it goes into
 * schemas, and other languages mean other characters by `\S`.
 */
export const NAME_PATTERN: RegExp = /[^\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;

/** The smallest category id. */
export const CATEGORY_ID_MIN: bigint = INT64_MIN;

/** The largest category id. */
export const CATEGORY_ID_MAX: bigint = INT64_MAX;

/** The smallest id that can be asked for, and that a storage assigns. */
export const PET_ID_MIN = 1n;

/** The largest id that can be asked for. */
export const PET_ID_MAX: bigint = INT64_MAX;

/** The largest id that a storage assigns: the largest that a client whose numbers are doubles reads exactly, 2^53 - 1. */
export const ASSIGNED_ID_MAX: bigint = BigInt(Number.MAX_SAFE_INTEGER);

declare const checked: unique symbol;

/** An animal to be added, checked against every rule. {@link parseNewPet} makes it. */
export interface NewPet {
  /** 1 to {@link NAME_MAX_LENGTH} code points, well-formed Unicode, not only white space; kept as it was given. */
  readonly name: string;
  /** Identifier of the category the animal belongs to, a signed 64-bit integer. */
  readonly categoryId: bigint;
  /** Availability; absent where none was given. */
  readonly status?: PetStatus;
  readonly [checked]: true;
}

/** An animal in the catalogue. */
export interface Pet extends Pick<NewPet, 'name' | 'categoryId' | 'status'> {
  /** Assigned by the storage: unique, from {@link PET_ID_MIN} to {@link ASSIGNED_ID_MAX}. */
  readonly id: bigint;
}

/**
 * Checks what someone wants to add.
 *
 * @param candidate An object with `name` (string), `categoryId` (bigint) and, if known, `status`. Other members,
 * `id` among them, are ignored. A number that is no integer, or too large for one, can be given as {@link NumberLiteral}.
 * @returns The animal to add, with a member `status` only where one was given.
 * @throws DomainError `invalid_request`, whose message names all faults.
 * @example parseNewPet({ name: 'Rex', categoryId: 7n, status: 'available' })
 */
export function parseNewPet(candidate: unknown): NewPet {
  if (typeof candidate !== 'object' || candidate === null || Array.isArray(candidate)) {
    throw invalidRequest([`the animal must be an object with name and categoryId, was ${quote(candidate)}`]);
  }
  const { name, categoryId, status } = candidate as Record<string, unknown>;
  const violations = [nameViolation(name), categoryIdViolation(categoryId), statusViolation(status)].filter(
    (violation) => violation !== null,
  );
  if (violations.length > 0) throw invalidRequest(violations);
  return (status === undefined ? { name, categoryId } : { name, categoryId, status }) as NewPet;
}

function nameViolation(name: unknown): string | null {
  if (name === undefined) return 'name is required';
  if (typeof name !== 'string') return `name must be a string, was ${quote(name)}`;
  if (!NAME_PATTERN.test(name)) return 'name must have a character that is not white space';
  // A code point takes at least one code unit: only longer names need counting.
  if (name.length > NAME_MAX_LENGTH) {
    const length = [...name].length;
    if (length > NAME_MAX_LENGTH) {
      return `name must be at most ${NAME_MAX_LENGTH} characters (Unicode code points), was ${length}`;
    }
  }
  if (!name.isWellFormed()) return 'name must be well-formed Unicode, without a lone surrogate';
  return null;
}

function categoryIdViolation(categoryId: unknown): string | null {
  if (categoryId === undefined) return 'categoryId is required';
  if (typeof categoryId === 'bigint' && categoryId >= CATEGORY_ID_MIN && categoryId <= CATEGORY_ID_MAX) return null;
  if (typeof categoryId === 'number') return `categoryId must be a bigint, was the number ${categoryId}`;
  return `categoryId must be an integer from ${CATEGORY_ID_MIN} to ${CATEGORY_ID_MAX}, was ${quote(categoryId)}`;
}

/** The fault of a status that was given, or null. Absent is none. */
export function statusViolation(status: unknown): string | null {
  if (status === undefined || isPetStatus(status)) return null;
  return `status must be one of ${PET_STATUSES.join(', ')}, was ${quote(status)}`;
}

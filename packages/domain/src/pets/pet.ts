import { DomainError, rejectViolations } from '../domain-error.ts';
import { integerViolation, quote, violation } from '../quote.ts';
import { LIMITS } from './limits.ts';
import { type PetStatus, statusViolation } from './pet-status.ts';

/** A pet to be created. */
export interface NewPet {
  /** 1 to 200 code points, well-formed Unicode, not only white space ({@link LIMITS}); kept as it was given. */
  readonly name: string;
  /** Identifier of the category the pet belongs to, a signed 64-bit integer. */
  readonly categoryId: bigint;
  /** Availability; stays absent if it was not given. */
  readonly status?: PetStatus;
}

/** A pet in the catalogue. */
export interface Pet extends NewPet {
  /** Assigned by the storage: unique, from 1 to 2^53 - 1. */
  readonly id: bigint;
}

/**
 * Checks what a caller wants to create.
 *
 * @param given Read once: later changes to it have no effect.
 * @returns A copy with the members of a NewPet and no others; `status` only if it was given.
 * @throws DomainError `invalid`, naming every violation.
 */
export function checkedNewPet(given: unknown): NewPet {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new DomainError('invalid', `the pet must be an object with name and categoryId, was ${quote(given)}`);
  }
  const { name, categoryId, status } = given as Record<string, unknown>;
  rejectViolations(nameViolation(name), categoryIdViolation(categoryId), statusViolation(status));
  return (status === undefined ? { name, categoryId } : { name, categoryId, status }) as NewPet;
}

function nameViolation(name: unknown): string | null {
  const { maxLength, pattern } = LIMITS.name;
  if (name === undefined) return 'name is required';
  if (typeof name !== 'string') return violation('name must be a string', name);
  if (!pattern.test(name)) return 'name must have a character that is not white space';
  // A code point takes at least one code unit: only longer names need counting.
  if (name.length > maxLength) {
    const length = [...name].length;
    if (length > maxLength) return `name must be at most ${maxLength} characters (Unicode code points), was ${length}`;
  }
  if (!name.isWellFormed()) return 'name must be well-formed Unicode, without a lone surrogate';
  return null;
}

function categoryIdViolation(categoryId: unknown): string | null {
  const { min, max } = LIMITS.categoryId;
  if (categoryId === undefined) return 'categoryId is required';
  if (typeof categoryId === 'bigint' && categoryId >= min && categoryId <= max) return null;
  return integerViolation(`categoryId must be an integer from ${min} to ${max}`, categoryId);
}

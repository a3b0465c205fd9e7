import { invalid, rejectViolations, type Violations } from '../errors.ts';
import { quote, violation } from '../quote.ts';
import { LIMITS } from './limits.ts';

/** The availabilities of a pet, in the order in which the interface lists them. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** Availability of a pet. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** The violation of a status, or null. It may be absent, which null is not; case matters. */
export function statusViolation(status: unknown): string | null {
  if (status === undefined || PET_STATUSES.includes(status as PetStatus)) return null;
  return violation(`status must be one of ${PET_STATUSES.join(', ')}`, status);
}

/** A pet to be created. Its integers are bigints, as transports read them. */
export interface NewPet {
  /** Well-formed Unicode without U+0000, not only white space, no longer than {@link LIMITS} say; kept as it was given. */
  readonly name: string;
  /** Identifier of the category the pet belongs to, a signed 64-bit integer. */
  readonly categoryId: bigint;
  /** Availability; stays absent if it was not given. */
  readonly status?: PetStatus | undefined;
}

/** A pet in the catalogue. */
export interface Pet extends NewPet {
  /** Assigned by the storage: unique, in the range that {@link LIMITS} name. */
  readonly id: bigint;
}

/**
 * Checks a pet to be created.
 *
 * @param given Read once: later changes to it have no effect.
 * @param others Violations of other arguments of the call, which the error names, too.
 * @returns A copy with the members of a NewPet and no others; `status` only if it was given.
 * @throws DomainError `invalid`, naming every violation.
 */
export function checkedNewPet(given: unknown, others?: Violations): NewPet {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid({ pet: `the pet must be an object with name and categoryId, was ${quote(given)}`, ...others });
  }
  const newPet: Record<string, unknown> = {};
  const violations: Record<string, string | null> = {};
  for (const member of NEW_PET_MEMBERS) {
    const value = (given as Record<string, unknown>)[member];
    violations[member] = VIOLATION_OF[member](value);
    if (value !== undefined) newPet[member] = value;
  }
  rejectViolations({ ...violations, ...others });
  return newPet as unknown as NewPet;
}

/** Returns the violation of each member's value, or null. */
const VIOLATION_OF: Readonly<Record<keyof NewPet, (value: unknown) => string | null>> = {
  name: nameViolation,
  categoryId: categoryIdViolation,
  status: statusViolation,
};

/** The members of a NewPet, in the order in which the interface lists them. */
export const NEW_PET_MEMBERS = Object.keys(VIOLATION_OF) as readonly (keyof NewPet)[];

function nameViolation(name: unknown): string | null {
  const { maxLength, pattern } = LIMITS.name;
  if (name === undefined) return 'name is required';
  if (typeof name !== 'string') return violation('name must be a string', name);
  if (!pattern.test(name)) return 'name must have a character that is not white space';
  const { length } = [...name];
  if (length > maxLength) return `name must be at most ${maxLength} characters (Unicode code points), was ${length}`;
  if (name.includes('\0')) return 'name must not contain U+0000';
  if (!name.isWellFormed()) return 'name must be well-formed Unicode, without a lone surrogate';
  return null;
}

function categoryIdViolation(categoryId: unknown): string | null {
  const { min, max } = LIMITS.categoryId;
  if (categoryId === undefined) return 'categoryId is required';
  if (typeof categoryId === 'bigint' && categoryId >= min && categoryId <= max) return null;
  return violation(`categoryId must be an integer from ${min} to ${max}`, categoryId);
}

import { invalidRequest } from './domain-error.ts';
import { PET_ID_MAX, statusViolation } from './pet.ts';
import type { PetStatus } from './pet-status.ts';
import { quote } from './quote.ts';

/** The fewest animals a page can be asked to hold. */
export const PAGE_LIMIT_MIN = 1;

/** The most animals a page can be asked to hold. */
export const PAGE_LIMIT_MAX = 100;

/** How many animals a page holds where nobody says. */
export const PAGE_LIMIT_DEFAULT = 20;

/** Which page of which animals. */
export interface PetQuery {
  /** At most this many animals, {@link PAGE_LIMIT_MIN} to {@link PAGE_LIMIT_MAX}; {@link PAGE_LIMIT_DEFAULT} if absent. */
  readonly limit?: number | undefined;
  /** Only animals with this status; all of them, those without a status too, if absent. */
  readonly status?: PetStatus | undefined;
  /** Only animals whose id is greater: 0 to {@link PET_ID_MAX}. Absent: from the first. */
  readonly after?: bigint | undefined;
}

/** Whether a value is a page's limit. */
export function isPageLimit(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= PAGE_LIMIT_MIN && (value as number) <= PAGE_LIMIT_MAX;
}

/** The fault of something that is no {@link isPageLimit limit}, quoted as it was given. */
export function limitViolation(given: unknown): string {
  return `limit must be an integer from ${PAGE_LIMIT_MIN} to ${PAGE_LIMIT_MAX}, was ${typeof given === 'number' ? given : quote(given)}`;
}

/** @throws DomainError `invalid_request`, naming all faults. */
export function checkPetQuery({ limit, status, after }: PetQuery): void {
  const violations: string[] = [];
  if (limit !== undefined && !isPageLimit(limit)) violations.push(limitViolation(limit));
  const violation = statusViolation(status);
  if (violation !== null) violations.push(violation);
  if (after !== undefined && !(typeof after === 'bigint' && after >= 0n && after <= PET_ID_MAX)) {
    violations.push(`after must be an id or 0, was ${quote(after)}`);
  }
  if (violations.length > 0) throw invalidRequest(violations);
}

import { invalid, rejectViolations } from '../errors.ts';
import { quote, violation } from '../quote.ts';
import { isIntegerFrom, LIMITS } from './limits.ts';
import { type PetStatus, statusViolation } from './pet.ts';
import type { PetSelection } from './pet-repository.ts';

/** Selects a page of pets. */
export interface PetQuery {
  /**
   * At most this many pets: 1 to 100 ({@link LIMITS}).
   *
   * @default 20
   */
  readonly limit?: number | undefined;
  /**
   * Only pets with this status.
   *
   * @default all pets, those without a status too
   */
  readonly status?: PetStatus | undefined;
  /**
   * Only pets whose id is greater: 0 to 2^63 - 1.
   *
   * @default 0n
   */
  readonly after?: bigint | undefined;
}

/**
 * Checks the query for a page.
 *
 * @param given Read once: later changes to it have no effect.
 * @throws DomainError `invalid`, naming every violation.
 */
export function checkedPetQuery(given: unknown): PetSelection {
  if (typeof given !== 'object' || given === null) {
    throw invalid({ query: `the query must be an object, was ${quote(given)}` });
  }
  const { limit, status, after, ...others } = given as Record<string, unknown>;
  // Of all members: one that is missing is a compile error.
  const checked: Record<keyof PetQuery, unknown> = { limit: limit ?? LIMITS.page.default, status, after: after ?? 0n };
  const violations: Record<keyof PetQuery, string | null> = {
    limit: limitViolation(limit),
    status: statusViolation(status),
    after: afterViolation(after),
  };
  const [other] = Object.keys(others);
  const rule = other === undefined ? null : `the query must have no ${other}, only ${Object.keys(checked).join(', ')}`;
  rejectViolations({ ...violations, query: rule });
  return checked as Record<keyof PetQuery, never>;
}

/** The violation of the size of a page, or null. */
export function limitViolation(limit: unknown): string | null {
  const { min, max } = LIMITS.page;
  if (limit === undefined || isIntegerFrom(min, max, limit)) return null;
  return `limit must be an integer from ${min} to ${max}, was ${typeof limit === 'number' ? limit : quote(limit)}`;
}

function afterViolation(after: unknown): string | null {
  if (after === undefined || (typeof after === 'bigint' && after >= 0n && after <= LIMITS.id.max)) return null;
  return violation('after must be an id or 0', after);
}

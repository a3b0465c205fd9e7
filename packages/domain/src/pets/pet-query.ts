import { invalid } from '../domain-error.ts';
import { quote, violation } from '../quote.ts';
import { LIMITS } from './limits.ts';
import { type PetStatus, statusViolation } from './pet-status.ts';

/** Which page of which pets. */
export interface PetQuery {
  /** At most this many pets: 1 to 100, 20 if absent ({@link LIMITS}). */
  readonly limit?: number | undefined;
  /** Only pets with this status. If absent all pets, those without a status too. */
  readonly status?: PetStatus | undefined;
  /** Only pets whose id is greater: 0 to 2^63 - 1. From the first if absent. */
  readonly after?: bigint | undefined;
}

/** @throws DomainError `invalid`, naming every violation. */
export function checkPetQuery(given: unknown): asserts given is PetQuery {
  if (typeof given !== 'object' || given === null) throw invalid([`the query must be an object, was ${quote(given)}`]);
  const { limit, status, after } = given as Record<string, unknown>;
  const violations = [limitViolation(limit), statusViolation(status), afterViolation(after)].filter(
    (message) => message !== null,
  );
  if (violations.length > 0) throw invalid(violations);
}

function limitViolation(limit: unknown): string | null {
  const { min, max } = LIMITS.page;
  if (limit === undefined) return null;
  const rule = `limit must be an integer from ${min} to ${max}`;
  if (typeof limit !== 'number') return violation(rule, limit);
  return Number.isInteger(limit) && limit >= min && limit <= max ? null : `${rule}, was ${limit}`;
}

function afterViolation(after: unknown): string | null {
  if (after === undefined || (typeof after === 'bigint' && after >= 0n && after <= LIMITS.id.max)) return null;
  return violation('after must be an id or 0', after);
}

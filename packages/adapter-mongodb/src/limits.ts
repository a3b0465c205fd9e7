import { BUDGET, type Limits, timeLeft } from '@animal-store/adapter-kit';
import { LIMITS } from '@animal-store/domain';

/** In milliseconds. */
export const TIME_LIMITS = {
  /** The work on the server, and the wait for the majority of its members. */
  operation: BUDGET.server,
  /** How long a batch without a response delays the next one, whose callers then still have the time of the driver. */
  batch: BUDGET.call - BUDGET.driver,
} as const;

/** Throws a RangeError if it is no int64: the driver would cut it to 64 bits silently. */
export function checkCategoryId(categoryId: bigint): void {
  const { min, max } = LIMITS.categoryId;
  if (categoryId < min || categoryId > max) throw new RangeError(`categoryId must be an int64: ${categoryId}`);
}

/** Throws a TypeError if it has another type: an object may be an operator, and fail or change the query of several calls. */
export function checkType(type: 'bigint' | 'string', value: unknown): void {
  if (typeof value !== type) throw new TypeError(`a value of a query must be a ${type}, was a ${typeof value}`);
}

/** Throws a TypeError if it is no limit of a page: the codes with which the server rejects it are those of outages, too. */
export function checkPageLimit(limit: number): void {
  if (!(Number.isInteger(limit) && limit > 0)) throw new TypeError(`limit must be a positive integer: ${limit}`);
}

/**
 * The time limit of an operation in milliseconds, which ends before its callers give up.
 *
 * @throws DomainError `storage_unavailable` if they have given up.
 */
export const requireTime = (limits: Limits): number => Math.min(timeLeft(limits), TIME_LIMITS.operation);

import { BUDGET, type Limits, timeLeft } from '@animal-store/adapter-kit';

/** In milliseconds. */
export const TIME_LIMITS = {
  /** The work on the server, and the wait for the majority of its members. */
  operation: BUDGET.server,
  /** How long a batch without a response delays the next one, whose callers then still have the time of the driver. */
  batch: BUDGET.call - BUDGET.driver,
} as const;

/** Throws a TypeError, or a RangeError if it is beyond int64: the driver would cut it to 64 bits silently. */
export function checkInt64(name: string, value: unknown): void {
  if (typeof value !== 'bigint') throw new TypeError(`${name} must be a bigint: ${typeof value}`);
  if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${name} must be an int64: ${value}`);
}

/** Throws a TypeError: an object may be an operator, and fail or change the query of several calls, or change other documents. */
export function checkText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string: ${typeof value}`);
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
export const operationTime = (limits: Limits): number => Math.min(timeLeft(limits), TIME_LIMITS.operation);

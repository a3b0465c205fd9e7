import { DomainError } from './domain-error.ts';

/**
 * The error of a call that the storage did not serve now.
 *
 * @param cause The error of the driver, for the operator.
 */
export function unavailable(cause?: unknown): DomainError {
  return new DomainError('storage_unavailable', 'the storage is unavailable or does not respond in time: try again', {
    cause,
  });
}

/** The error of a call that too many calls wait before. */
export function overloaded(): DomainError {
  return new DomainError('storage_unavailable', 'the storage is overloaded: try again');
}

/** The error of a call on a storage that was closed. */
export function closed(): DomainError {
  return new DomainError('storage_unavailable', 'the storage is closed');
}

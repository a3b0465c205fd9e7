import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';

/** The line for the operator that an error of a port carries, or null for every other error. */
export function misconfiguration(error: unknown): string | null {
  return DomainError.is(error) && StorageMisconfigured.is(error.cause) ? error.cause.message : null;
}

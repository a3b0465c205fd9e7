import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';

/** The error that a call throws or rejects with; null if it succeeds. */
export async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return null;
  } catch (error) {
    return error;
  }
}

/** The line for the operator that an error of a port carries, or null for every other error. */
export function misconfigurationOf(error: unknown): string | null {
  return DomainError.is(error) && StorageMisconfigured.is(error.cause) ? error.cause.message : null;
}

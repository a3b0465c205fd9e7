import { DomainError } from './domain-error.ts';

/** Why an error happened, for operators: the storage's own words if it has some. The message of a DomainError is for callers. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return DomainError.is(error) && cause instanceof Error ? cause.message : message;
}

import { DomainError } from './domain-error.ts';

/** The reason of an error for operators: its cause, if it has one. The message of a DomainError is for callers. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return DomainError.is(error) && cause instanceof Error ? cause.message : message;
}

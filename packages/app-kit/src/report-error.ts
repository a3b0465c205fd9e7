import { inspect } from 'node:util';
import { DomainError } from '@animal-store/domain';
import { reasonOf } from '@animal-store/domain/transport';

/**
 * Reports the error of a call to the operator: an unexpected one with its stack, or the reason why the storage is unavailable.
 * Other errors are for the client alone.
 */
export function reportError(error: unknown, writeMessage: (message: string) => void): void {
  if (!DomainError.is(error)) writeMessage(`unexpected error: ${inspect(error)}`);
  else if (error.code === 'storage_unavailable') writeMessage(`the storage is unavailable: ${reasonOf(error)}`);
}

import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { MongoError, MongoServerError } from 'mongodb';
import { DEPLOYMENT_FAULTS, explained } from './deployment.ts';

const ACCESS_REFUSED = 'the server refuses the user, the password or the rights';

/** What no waiting heals, by the code of the error. */
const MISCONFIGURATIONS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [13, ACCESS_REFUSED], // Unauthorized
  [18, ACCESS_REFUSED], // AuthenticationFailed
  [8000, ACCESS_REFUSED], // AtlasError, which Atlas answers to a wrong password
  ...Object.entries(DEPLOYMENT_FAULTS),
]);

const DUPLICATE_KEY = 11000;

/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

/**
 * What a failure of MongoDB is to whoever called a port. The message is for the caller and has no driver text; the
 * cause is for the log: name, code and message of the driver's error without credentials, and nothing that hangs on it.
 */
export function unavailable(failure: unknown, redact: Redact): DomainError {
  return new DomainError('storage_unavailable', 'the storage cannot be reached or does not answer in time: try again', {
    cause: causeOf(forLog(explained(failure), redact)),
  });
}

/** A failure as the ports throw it: the driver's as `storage_unavailable`, anything else (a defect) as it is. */
export function asThrown(failure: unknown, redact: Redact): unknown {
  return failure instanceof MongoError ? unavailable(failure, redact) : failure;
}

/** What is wrong with the URL or the server behind it, if no waiting heals it; otherwise the failure itself. */
function causeOf(failure: Error & { code?: unknown }): Error {
  const misconfiguration = MISCONFIGURATIONS.get(failure.code);
  return misconfiguration === undefined ? failure : new StorageMisconfigured(misconfiguration, { cause: failure });
}

/** Whether a write was refused by a unique index. */
export function isDuplicateKey(failure: unknown): boolean {
  return failure instanceof MongoServerError && failure.code === DUPLICATE_KEY;
}

function forLog(failure: unknown, redact: Redact): Error {
  const { name, message, code }: Error & { code?: unknown } = failure instanceof Error ? failure : new Error();
  // Behind a brace the server quotes commands and documents. What OpenSSL says ends with a line break.
  const text = redact(message)
    .replace(/\s*\{.*/s, '')
    .replace(/\s+/g, ' ')
    .trim();
  const cause = Object.assign(new Error(text), { name });
  return code === undefined ? cause : Object.assign(cause, { code });
}

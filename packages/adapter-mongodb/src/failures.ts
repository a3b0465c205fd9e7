import { DomainError } from '@animal-store/domain';
import { MongoError, MongoServerError } from 'mongodb';

/** Server errors that say: these credentials, or this user's rights, are not enough. */
const ACCESS_REFUSED: ReadonlySet<unknown> = new Set([
  13, // Unauthorized
  18, // AuthenticationFailed
  8000, // AtlasError, which Atlas answers to a wrong password
]);

const DUPLICATE_KEY = 11000;

/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

/**
 * What a failure of MongoDB is to whoever called a port. The message is for the caller and has no driver text; the
 * cause is for the log: name, code and message of the driver's error without credentials, and nothing that hangs on it.
 */
export function unavailable(failure: unknown, redact: Redact): DomainError {
  return new DomainError('service_unavailable', 'the storage cannot be reached or does not answer in time: try again', {
    cause: forLog(failure, redact),
  });
}

/** A failure as the ports throw it: the driver's as `service_unavailable`, anything else (a defect) as it is. */
export function asThrown(failure: unknown, redact: Redact): unknown {
  return failure instanceof MongoError ? unavailable(failure, redact) : failure;
}

/**
 * Whether a port failed because the server refuses the URL's user, password, or the user's rights: a mistake of
 * configuration, which no waiting heals.
 */
export function isAccessRefused(error: unknown): boolean {
  return error instanceof DomainError && ACCESS_REFUSED.has((error.cause as { code?: unknown } | undefined)?.code);
}

/** Whether a write was refused by a unique index. */
export function isDuplicateKey(failure: unknown): boolean {
  return failure instanceof MongoServerError && failure.code === DUPLICATE_KEY;
}

function forLog(failure: unknown, redact: Redact): Error {
  const { name, message, code }: Error & { code?: unknown } = failure instanceof Error ? failure : new Error();
  // Behind a brace the server quotes commands and documents.
  const text = redact(message).replace(/\s*\{.*/s, '');
  const cause = Object.assign(new Error(text), { name });
  return code === undefined ? cause : Object.assign(cause, { code });
}

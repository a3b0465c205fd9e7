import type { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable as unavailableBecause } from '@animal-store/domain/ports';
import { MongoBulkWriteError, MongoError, MongoServerError } from 'mongodb';
import { diagnose, NotInitiated } from './deployment.ts';

const ACCESS_DENIED = 'the server rejects the user, the password or the rights';

/** Misconfigurations by the code of the server's error. */
const MISCONFIGURATIONS: ReadonlyMap<unknown, string> = new Map([
  [13, ACCESS_DENIED], // Unauthorized
  [18, ACCESS_DENIED], // AuthenticationFailed
  [8000, ACCESS_DENIED], // AtlasError, with which Atlas responds to a wrong password
]);

const DUPLICATE_KEY = 11000;
const DOCUMENT_VALIDATION_FAILURE = 121;

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

/**
 * A failure as the ports throw it: `storage_unavailable` if the storage can't be reached, does not respond in time or is
 * misconfigured; as it is if it shows a defect: a violated constraint or schema, or an error that is not the driver's.
 */
export function toPortError(failure: unknown, redact: Redact): unknown {
  const isOutage =
    failure instanceof MongoError ||
    failure instanceof NotInitiated ||
    StorageMisconfigured.is(failure) ||
    isSystemError(failure);
  return isOutage && !isViolation(failure) ? unavailable(failure, redact) : failure;
}

/**
 * The message is for the caller and has no driver text. The cause is for the log: name, code and message of the driver's
 * error without credentials, and nothing that is attached to it.
 */
export function unavailable(failure: unknown, redact: Redact): DomainError {
  return unavailableBecause(causeOf(diagnose(failure), redact));
}

/** Whether a unique index rejected a write. */
export function isDuplicateKey(failure: unknown): boolean {
  return failure instanceof MongoServerError && failure.code === DUPLICATE_KEY;
}

/** Whether a unique index or a schema rejected a write. */
export function isViolation(failure: unknown): boolean {
  // After a failed bulk write it is unknown which of its documents are stored.
  if (!(failure instanceof MongoServerError) || failure instanceof MongoBulkWriteError) return false;
  return failure.code === DUPLICATE_KEY || failure.code === DOCUMENT_VALIDATION_FAILURE;
}

/** Node's errors of a socket that ended, or was destroyed, before the driver wrote to it. The driver throws them as they are. */
const WRITTEN_TOO_LATE: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/** An error of Node.js: a name that can't be resolved, a file that can't be read, a socket that has ended. */
function isSystemError(failure: unknown): failure is NodeJS.ErrnoException {
  return (
    failure instanceof Error && ('syscall' in failure || WRITTEN_TOO_LATE.has((failure as NodeJS.ErrnoException).code))
  );
}

function causeOf(failure: unknown, redact: Redact): Error {
  if (StorageMisconfigured.is(failure)) return failure;
  const logged = forLog(failure, redact);
  // The driver reads no files but those that the URL names.
  if (isSystemError(failure) && (failure.syscall === 'open' || failure.syscall === 'read')) {
    const message = `a file that the URL names (tlsCAFile, tlsCertificateKeyFile, tlsCRLFile) cannot be read: ${logged.message}`;
    return new StorageMisconfigured(message, { cause: logged });
  }
  const misconfiguration = MISCONFIGURATIONS.get(logged.code);
  return misconfiguration === undefined ? logged : new StorageMisconfigured(misconfiguration, { cause: logged });
}

function forLog(failure: unknown, redact: Redact): Error & { code?: unknown } {
  const { name, message, code }: Error & { code?: unknown } = failure instanceof Error ? failure : new Error();
  // After a brace the server quotes commands and documents. OpenSSL ends its messages with a line break.
  const text = redact(message)
    .replace(/\s*\{.*/s, '')
    .replace(/\s+/g, ' ')
    .trim();
  const cause = Object.assign(new Error(text), { name });
  return code === undefined ? cause : Object.assign(cause, { code });
}

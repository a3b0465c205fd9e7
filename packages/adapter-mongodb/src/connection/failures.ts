import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { MongoBulkWriteError, MongoError, MongoServerError } from 'mongodb';
import { diagnose, NotInitiated } from './deployment.ts';

const DUPLICATE_KEY = 11000;
const DOCUMENT_VALIDATION_FAILURE = 121;

/** The server's errors about the user, the password or the rights. */
const ACCESS_DENIED: ReadonlySet<unknown> = new Set([
  13, // Unauthorized
  18, // AuthenticationFailed
  8000, // AtlasError, with which Atlas responds to a wrong password
]);

/** Node's errors of a socket that ended, or was destroyed, before the driver wrote to it. The driver throws them as they are. */
const WRITTEN_TOO_LATE: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

export type Redact = (text: string) => string;

/**
 * A failure as the ports throw it: `storage_unavailable` if the storage can't be reached, does not respond in time or is
 * misconfigured; as it is if it shows a defect: a violated constraint or schema, or an error that is not the driver's.
 *
 * The message of `storage_unavailable` is for the caller and has no driver text. Its cause is for the log: name, code and
 * message of the driver's error, without credentials and attached objects.
 */
export function toPortError(failure: unknown, redact: Redact): unknown {
  return isOutage(failure) && !isViolation(failure) ? unavailable(causeOf(diagnose(failure), redact)) : failure;
}

/** Whether a unique index rejected a write. */
export function isDuplicateKey(failure: unknown): boolean {
  return isViolation(failure) && (failure as MongoServerError).code === DUPLICATE_KEY;
}

/** Whether a unique index or a schema rejected a write. */
export function isViolation(failure: unknown): boolean {
  // After a failed bulk write it is unknown which of its documents are stored.
  if (!(failure instanceof MongoServerError) || failure instanceof MongoBulkWriteError) return false;
  return failure.code === DUPLICATE_KEY || failure.code === DOCUMENT_VALIDATION_FAILURE;
}

function isOutage(failure: unknown): failure is Error {
  return (
    failure instanceof MongoError ||
    failure instanceof NotInitiated ||
    StorageMisconfigured.is(failure) ||
    isSystemError(failure)
  );
}

/** An error of Node.js: a name that can't be resolved, a file that can't be read, a socket that has ended. */
function isSystemError(failure: unknown): failure is NodeJS.ErrnoException {
  return (
    failure instanceof Error && ('syscall' in failure || WRITTEN_TOO_LATE.has((failure as NodeJS.ErrnoException).code))
  );
}

function causeOf(failure: Error, redact: Redact): Error {
  if (StorageMisconfigured.is(failure)) return failure;
  const cause = forLog(failure, redact);
  // The driver reads no files but those that the URL names.
  if (isSystemError(failure) && (failure.syscall === 'open' || failure.syscall === 'read')) {
    const message = `a file that the URL names (tlsCAFile, tlsCertificateKeyFile, tlsCRLFile) cannot be read: ${cause.message}`;
    return new StorageMisconfigured(message, { cause });
  }
  if (!ACCESS_DENIED.has(cause.code)) return cause;
  return new StorageMisconfigured('the server rejects the user, the password or the rights', { cause });
}

function forLog({ name, message, code }: Error & { code?: unknown }, redact: Redact): Error & { code?: unknown } {
  // After a brace the server quotes commands and documents. OpenSSL ends its messages with a line break.
  const text = redact(message).replace(/\{.*/s, '').replace(/\s+/g, ' ').trim();
  return Object.assign(new Error(text), { name, code });
}

import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { MongoBulkWriteError, MongoError, MongoServerError, MongoServerSelectionError } from 'mongodb';

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

/** Removes the secrets of a URL from a text. */
export type Redact = (text: string) => string;

/**
 * A failure of a call as the ports throw it: `storage_unavailable`, unless it shows a defect: a violated constraint or schema,
 * or an error that is not the driver's. The message is for the caller and has no driver text. The cause is for the log: name,
 * code and message of the driver's error, without credentials and attached objects.
 */
export function toPortError(failure: unknown, redact: Redact): unknown {
  return isOutage(failure) && !isViolation(failure) ? unavailable(causeOf(failure, redact)) : failure;
}

/** Whether a unique index rejected a write. */
export function isDuplicateKey(failure: unknown): boolean {
  return isViolation(failure) && failure.code === DUPLICATE_KEY;
}

/** Whether a unique index or a schema rejected a write. */
function isViolation(failure: unknown): failure is MongoServerError {
  // After a failed bulk write it is unknown which of its documents are stored.
  if (!(failure instanceof MongoServerError) || failure instanceof MongoBulkWriteError) return false;
  return failure.code === DUPLICATE_KEY || failure.code === DOCUMENT_VALIDATION_FAILURE;
}

function isOutage(failure: unknown): failure is NodeJS.ErrnoException {
  if (failure instanceof MongoError) return true;
  if (!(failure instanceof Error)) return false;
  // The call's time limit, or an error of Node.js: a name that can't be resolved, a file that can't be read, a socket.
  return failure.name === 'TimeoutError' || 'syscall' in failure || WRITTEN_TOO_LATE.has(codeOf(failure));
}

const codeOf = (failure: Error): unknown => (failure as { code?: unknown }).code;

function causeOf(failure: NodeJS.ErrnoException, redact: Redact): Error {
  const cause = forLog(failure, redact);
  const advice = adviceOn(failure);
  return advice === undefined ? cause : new StorageMisconfigured(`${advice}: ${cause.message}`, { cause });
}

/** What the operator must change, if waiting does not help. */
function adviceOn(failure: NodeJS.ErrnoException): string | undefined {
  if (ACCESS_DENIED.has(codeOf(failure))) return 'the server rejects the user, the password or the rights';
  // The driver reads no files but those that the URL names.
  if (failure.syscall === 'open' || failure.code === 'EISDIR') return 'a file that the URL names cannot be read';
  // The driver drops servers that are not in the set.
  if (failure instanceof MongoServerSelectionError && failure.reason?.servers.size === 0) {
    return 'no server of the URL is a member of the replica set that it names';
  }
  return undefined;
}

function forLog(failure: Error, redact: Redact): Error {
  // After a brace the server quotes commands and documents. OpenSSL ends its messages with a line break.
  const text = redact(failure.message).replace(/\{.*/s, '').replace(/\s+/g, ' ').trim();
  return Object.assign(new Error(text), { name: failure.name, code: codeOf(failure) });
}

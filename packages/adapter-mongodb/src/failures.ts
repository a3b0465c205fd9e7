import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import {
  MongoBulkWriteError,
  MongoError,
  MongoMissingDependencyError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import type { Place } from './url.ts';

const DUPLICATE_KEY = 11000;
const DOCUMENT_VALIDATION_FAILURE = 121;

const ACCESS_DENIED = 'the server rejects the user, the password or the rights';
const OTHER_SET = 'no server of the URL is a member of the replica set that it names';
const UNREAD_FILE = 'a file that the URL names cannot be read';
const OTHER_INDEX = 'an index has other options than that of Animal Store: drop it, and restart the process';

/** What the operator must change, by the codes of the server's errors. */
const ADVICE: ReadonlyMap<unknown, string> = new Map([
  [13, ACCESS_DENIED], // Unauthorized
  [18, ACCESS_DENIED], // AuthenticationFailed
  [73, 'the server rejects the name of the database'], // InvalidNamespace
  [85, OTHER_INDEX], // IndexOptionsConflict
  [86, OTHER_INDEX], // IndexKeySpecsConflict
  [361, 'a collection is missing, or not the one that this process has used'], // CollectionUUIDMismatch
  [13297, 'the server has a database whose name differs in case alone'], // DatabaseDifferCase
  [8000, ACCESS_DENIED], // AtlasError, with which Atlas responds to a wrong password
]);

/** Node's errors of a socket that ended, or was destroyed, before the driver wrote to it. The driver throws them as they are. */
const WRITTEN_TOO_LATE: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/**
 * A failure of a call as the ports throw it: `storage_unavailable`, unless it shows a defect: a violated schema, or an error
 * that is neither the driver's nor the system's. The message is for the caller and has no driver text. The cause is for the
 * log: name, code and message of the driver's error, without credentials, data and attached objects; a violation is reduced to
 * these, too.
 */
export function toPortError(failure: unknown, place: Place): unknown {
  if (!isOutage(failure)) return failure;
  const cause = forLog(failure, place);
  if (isRejected(failure, DOCUMENT_VALIDATION_FAILURE)) return cause;
  const advice = adviceOn(failure);
  if (advice === undefined) return unavailable(cause);
  return unavailable(new StorageMisconfigured(`${advice}: ${cause.message}`, { cause }));
}

/** Whether the server rejected the user, or an action of the user. */
export const isDenied = (failure: unknown): boolean =>
  failure instanceof MongoServerError && ADVICE.get(failure.code) === ACCESS_DENIED;

/** Whether a unique index rejected a write. */
export const isDuplicateKey = (failure: unknown): boolean => isRejected(failure, DUPLICATE_KEY);

function isRejected(failure: unknown, code: number): failure is MongoServerError {
  // After a failed bulk write it is unknown which of its documents are stored.
  return failure instanceof MongoServerError && !(failure instanceof MongoBulkWriteError) && failure.code === code;
}

function isOutage(failure: unknown): failure is NodeJS.ErrnoException {
  if (failure instanceof MongoError) return true;
  if (!(failure instanceof Error)) return false;
  // An error of Node.js: a name that can't be resolved, a file that can't be read, a socket.
  return 'syscall' in failure || WRITTEN_TOO_LATE.has((failure as NodeJS.ErrnoException).code);
}

/** What the operator must change, if waiting does not help. Checks of the adapter throw a StorageMisconfigured themselves. */
function adviceOn(failure: NodeJS.ErrnoException): string | undefined {
  // The driver drops servers that are not in the set.
  if (failure instanceof MongoServerSelectionError && failure.reason?.servers.size === 0) {
    return OTHER_SET;
  }
  for (let cause: unknown = failure; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof MongoMissingDependencyError) return 'an option of the URL needs a package';
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (ADVICE.has(code)) return ADVICE.get(code);
    // The driver reads no files but those that the URL names.
    if (syscall === 'open' || code === 'EISDIR') return UNREAD_FILE;
    if (code?.toString().startsWith('ERR_OSSL_'))
      return 'a file that the URL names has no certificate and key in PEM format';
  }
  return undefined;
}

function forLog(failure: NodeJS.ErrnoException, { redact, tls }: Place): Error {
  // The server quotes data in braces and quotation marks, which data may contain, too. OpenSSL's messages end with a line break.
  const text = redact(failure.message)
    .replace(/["{].*["}]|["{].*/s, '')
    .replace(/\s+/g, ' ')
    .trim();
  // A server that requires TLS closes the first connection, which is that of the monitor. So does one that stops.
  const hint = !tls && /<monitor> to \S+ closed$/.test(text) ? ': tls=true may be missing in the URL' : '';
  return Object.assign(new Error(text + hint), { name: failure.name, code: failure.code });
}

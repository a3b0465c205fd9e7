import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import {
  MongoBulkWriteError,
  MongoError,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import type { Place } from './url.ts';

/** What a kind of failure means. */
interface Meaning {
  /** Of the ports. */
  readonly error: 'storage_unavailable' | 'a defect';
  /** The client of all calls: it replaces lost connections itself. */
  readonly client: 'kept' | 'replaced';
  /** What the operator must change; null if waiting helps, or nobody knows. */
  readonly advice: string | null;
}

const UNAVAILABLE = { error: 'storage_unavailable', client: 'kept', advice: null } as const;
const DEFECT = { ...UNAVAILABLE, error: 'a defect' } as const;
const LOST = { ...UNAVAILABLE, client: 'replaced' } as const;

/** Each kind of failure of a call. Who wants to know what one means asks here. */
const FAILURES = {
  'a bug': DEFECT,
  'a violated schema': DEFECT,
  'a duplicate key': UNAVAILABLE,
  'an existing collection': UNAVAILABLE,
  'no primary': LOST,
  // A client drops a server that is not a member of its set, and never tries it again.
  'no member of the set': { ...LOST, advice: 'no server of the URL is a member of the replica set that it names' },
  // A client reads the files of its URL once.
  'an unread file': { ...LOST, advice: 'a file that the URL names cannot be read' },
  'no certificate': { ...LOST, advice: 'a file that the URL names has no certificate and key in PEM format' },
  'access denied': { ...UNAVAILABLE, advice: 'the server rejects the user, the password or the rights' },
  'the name of the database': { ...UNAVAILABLE, advice: 'the server rejects the name of the database' },
  'the case of the database': { ...UNAVAILABLE, advice: 'the server has a database whose name differs in case alone' },
  'another index': {
    ...UNAVAILABLE,
    advice: 'an index has other options than that of Animal Store: drop it, and restart the process',
  },
  'another collection': {
    ...UNAVAILABLE,
    advice: 'a collection is missing, or not the one that this process has used',
  },
  'a missing package': { ...UNAVAILABLE, advice: 'an option of the URL needs a package' },
  'an outage': UNAVAILABLE,
} as const satisfies Record<string, Meaning>;

type Kind = keyof typeof FAILURES;

/** Kinds by the codes of the server's errors. */
const BY_CODE: ReadonlyMap<unknown, Kind> = new Map([
  [13, 'access denied'], // Unauthorized
  [18, 'access denied'], // AuthenticationFailed
  [8000, 'access denied'], // AtlasError, with which Atlas responds to a wrong password
  [48, 'an existing collection'], // NamespaceExists
  [73, 'the name of the database'], // InvalidNamespace
  [85, 'another index'], // IndexOptionsConflict
  [86, 'another index'], // IndexKeySpecsConflict
  [361, 'another collection'], // CollectionUUIDMismatch
  [13297, 'the case of the database'], // DatabaseDifferCase
]);

/** Of a single document: after a failed bulk write it is unknown which of its documents are stored. */
const BY_CODE_OF_ONE: ReadonlyMap<unknown, Kind> = new Map([
  [121, 'a violated schema'], // DocumentValidationFailure
  [11000, 'a duplicate key'],
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
  const kind = kindOf(failure);
  if (kind === 'a bug') return failure;
  const { error, advice } = FAILURES[kind];
  const cause = forLog(failure as NodeJS.ErrnoException, place);
  if (error === 'a defect') return cause;
  if (advice === null) return unavailable(cause);
  return unavailable(new StorageMisconfigured(`${advice}: ${cause.message}`, { cause }));
}

/** Whether the client must be replaced. */
export const isLost = (failure: unknown): boolean => FAILURES[kindOf(failure)].client === 'replaced';

/** Whether the server rejected the user, or an action of the user. */
export const isDenied = (failure: unknown): boolean =>
  failure instanceof MongoServerError && kindOf(failure) === 'access denied';

/** Whether a read may succeed if it is sent again: the server failed, or the connection. */
export const mayBeRepeated = (failure: unknown): boolean =>
  failure instanceof MongoNetworkError || failure instanceof MongoServerError;

/** Whether another process has created a collection first. */
export const isExisting = (failure: unknown): boolean => kindOf(failure) === 'an existing collection';

/** Whether a unique index rejected a write. */
export const isDuplicateKey = (failure: unknown): boolean => kindOf(failure) === 'a duplicate key';

function kindOf(failure: unknown): Kind {
  if (!isOutage(failure)) return 'a bug';
  if (failure instanceof MongoServerSelectionError && failure.reason?.servers.size === 0) return 'no member of the set';
  if (failure instanceof MongoServerError && !(failure instanceof MongoBulkWriteError)) {
    const kind = BY_CODE_OF_ONE.get(failure.code);
    if (kind !== undefined) return kind;
  }
  for (let cause: unknown = failure; cause instanceof Error; cause = cause.cause) {
    const kind = kindOfCause(cause);
    if (kind !== undefined) return kind;
  }
  return failure instanceof MongoServerSelectionError ? 'no primary' : 'an outage';
}

function isOutage(failure: unknown): boolean {
  if (failure instanceof MongoError) return true;
  if (!(failure instanceof Error)) return false;
  // An error of Node.js: a name that can't be resolved, a file that can't be read, a socket.
  return 'syscall' in failure || WRITTEN_TOO_LATE.has((failure as NodeJS.ErrnoException).code);
}

function kindOfCause(cause: Error): Kind | undefined {
  if (cause instanceof MongoMissingDependencyError) return 'a missing package';
  const { code, syscall } = cause as NodeJS.ErrnoException;
  if (BY_CODE.has(code)) return BY_CODE.get(code);
  // The driver reads no files but those that the URL names.
  if (syscall === 'open' || code === 'EISDIR') return 'an unread file';
  return code?.toString().startsWith('ERR_OSSL_') ? 'no certificate' : undefined;
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

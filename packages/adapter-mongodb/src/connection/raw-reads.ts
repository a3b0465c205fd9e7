import { type Db, type Document, MongoError, MongoNetworkError } from 'mongodb';

/** The server's errors after which the driver repeats a read (MongoDB's specification of retryable reads). */
const RETRYABLE_CODES: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  89, // NetworkTimeout
  91, // ShutdownInProgress
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

/**
 * Reads documents that the majority has from the primary, without decoding them. Like the driver's own reads, it is
 * repeated once after a transient error.
 *
 * @param command Returns a cursor whose documents fit into its first batch.
 * @returns The bytes of each document: views of the response.
 */
export async function readRaw(db: Db, command: Document): Promise<Buffer[]> {
  try {
    return await run(db, command);
  } catch (failure) {
    if (!isRetryable(failure)) throw failure;
    return run(db, command);
  }
}

/** Whether the driver would repeat a read after this failure. */
export function isRetryable(failure: unknown): boolean {
  return failure instanceof MongoNetworkError || (failure instanceof MongoError && RETRYABLE_CODES.has(failure.code));
}

async function run(db: Db, command: Document): Promise<Buffer[]> {
  const { cursor } = await db.command(
    { ...command, readConcern: { level: 'majority' } },
    { fieldsAsRaw: { firstBatch: true }, readPreference: 'primary' },
  );
  return cursor.firstBatch;
}

/**
 * The bytes of the values of a document, or of an array, all of which are documents or arrays
 * (https://bsonspec.org/spec.html). Those of `{ '0': [{ a: 1 }, { a: 2 }], '1': [] }` are two arrays; those of the first
 * array are two documents.
 */
export function valuesOf(document: Buffer): Buffer[] {
  const values: Buffer[] = [];
  // The elements follow the size: a byte for the type, a name that a zero byte ends, and a value that begins with its size.
  for (let at = 4; document[at] !== 0; ) {
    const begin = document.indexOf(0, at + 1) + 1;
    at = begin + document.readInt32LE(begin);
    values.push(document.subarray(begin, at));
  }
  return values;
}

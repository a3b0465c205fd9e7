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
 * Reads what the majority has from the primary, without decoding it. As the driver repeats its own reads, this one is
 * repeated once after an error that may have passed.
 *
 * @param command The command `find`, whose `limit` documents fit into one response.
 * @returns The bytes of each document: views of the response.
 */
export async function findRaw(db: Db, command: Document): Promise<Buffer[]> {
  const complete = {
    ...command,
    batchSize: command['limit'],
    singleBatch: true,
    readConcern: { level: 'majority' },
  };
  try {
    return await run(db, complete);
  } catch (failure) {
    if (!isRetryable(failure)) throw failure;
    return run(db, complete);
  }
}

/** Whether the driver would repeat a read after this failure. */
export function isRetryable(failure: unknown): boolean {
  return failure instanceof MongoNetworkError || (failure instanceof MongoError && RETRYABLE_CODES.has(failure.code));
}

async function run(db: Db, command: Document): Promise<Buffer[]> {
  const { cursor } = await db.command(command, { fieldsAsRaw: { firstBatch: true }, readPreference: 'primary' });
  return cursor.firstBatch;
}

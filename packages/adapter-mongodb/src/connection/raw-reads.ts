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

/** A query whose documents fit into one response together. */
export interface Query {
  readonly filter: Document;
  readonly projection: Document;
  /** 1 or more. */
  readonly limit: number;
  readonly sort?: Document;
  readonly hint?: Document;
  /** The time that the server may take, in milliseconds. */
  readonly maxTimeMS: number;
}

const OPTIONS = { fieldsAsRaw: { firstBatch: true }, readPreference: 'primary' } as const;
const READ_CONCERN = { level: 'majority' } as const;

/**
 * Reads what the majority has from the primary, without decoding it. As the driver repeats its own reads, this one is
 * repeated once after an error that may have passed.
 *
 * @returns The bytes of each document: views of the response.
 */
export function findRaw(db: Db, collection: string, query: Query): Promise<Buffer[]> {
  const { limit } = query;
  return read(db, { find: collection, ...query, batchSize: limit, singleBatch: true, readConcern: READ_CONCERN });
}

/**
 * Runs several queries by one command, as {@link findRaw} runs one: a command costs the server more than a short query. Each
 * query is a `$lookup` into a member of one document. For two queries the server returns
 * `{ '0': [{ _id: 1, … }, { _id: 2, … }], '1': [] }`, whose bytes are split into arrays, and these into documents.
 *
 * @param queries 1 or more, of one collection, none with a hint. The documents of all of them fit into one document of
 * 16 MiB together.
 * @returns For each query the bytes of its documents.
 */
export async function findAllRaw(
  db: Db,
  collection: string,
  queries: readonly Omit<Query, 'hint'>[],
): Promise<Buffer[][]> {
  const lookups = queries.map(({ filter, projection, limit, sort }, index) => ({
    $lookup: {
      from: collection,
      pipeline: [
        { $match: filter },
        ...(sort === undefined ? [] : [{ $sort: sort }]),
        { $limit: limit },
        { $project: projection },
      ],
      as: String(index),
    },
  }));
  const [results] = await read(db, {
    aggregate: 1,
    pipeline: [{ $documents: [{}] }, ...lookups],
    cursor: {},
    maxTimeMS: Math.min(...queries.map(({ maxTimeMS }) => maxTimeMS)),
    readConcern: READ_CONCERN,
  });
  return elements(results as Buffer).map((array) => elements(array));
}

/** Whether the driver would repeat a read after this failure. */
export function isRetryable(failure: unknown): boolean {
  return failure instanceof MongoNetworkError || (failure instanceof MongoError && RETRYABLE_CODES.has(failure.code));
}

async function read(db: Db, command: Document): Promise<Buffer[]> {
  try {
    return await run(db, command);
  } catch (failure) {
    if (!isRetryable(failure)) throw failure;
    return run(db, command);
  }
}

async function run(db: Db, command: Document): Promise<Buffer[]> {
  const { cursor } = await db.command(command, OPTIONS);
  return cursor.firstBatch;
}

/** @returns The value of each element of a document whose values are documents or arrays (https://bsonspec.org/spec.html). */
function elements(document: Buffer): Buffer[] {
  const values: Buffer[] = [];
  // Behind the size: each element is a byte for its type, a name that a zero byte ends, and a value that begins with its size.
  for (let at = 4; document[at] !== 0; ) {
    const begin = document.indexOf(0, at + 1) + 1;
    at = begin + document.readInt32LE(begin);
    values.push(document.subarray(begin, at));
  }
  return values;
}

import { createRequire } from 'node:module';
import { BSON, type Db, type Document, MongoError, MongoNetworkError, MongoServerError } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { findAllRaw, findRaw, isRetryable } from './raw-reads.ts';

const serverError = (code: number) => new MongoServerError({ message: 'no', code });
const documents = [Buffer.from('bytes')];
const query = { filter: { _id: 7 }, projection: { name: 1 }, limit: 500, maxTimeMS: 9 };

/** A database that responds to each command with the next of the given errors, and after them with a batch. */
function databaseWith(failures: unknown[], firstBatch: readonly Buffer[] = documents) {
  const commands: Document[] = [];
  const db = {
    async command(command: Document) {
      commands.push(command);
      if (failures.length > 0) throw failures.shift();
      return { cursor: { firstBatch } };
    },
  };
  return { db: db as unknown as Db, commands };
}

describe('findRaw', () => {
  test('reads what the majority has, in one response', async () => {
    const { db, commands } = databaseWith([]);
    expect(await findRaw(db, 'pets', query)).toBe(documents);
    expect(commands).toEqual([
      { find: 'pets', ...query, batchSize: 500, singleBatch: true, readConcern: { level: 'majority' } },
    ]);
  });

  test('repeats the command once after a failure that may have passed', async () => {
    for (const failure of [serverError(189), new MongoNetworkError('closed')]) {
      const { db, commands } = databaseWith([failure]);
      expect(await findRaw(db, 'pets', query)).toBe(documents);
      expect(commands).toHaveLength(2);
    }
  });

  test('fails with the second failure', async () => {
    const second = serverError(91);
    const { db, commands } = databaseWith([serverError(189), second]);
    await expect(findRaw(db, 'pets', query)).rejects.toBe(second);
    expect(commands).toHaveLength(2);
  });

  test('does not repeat the command after any other failure', async () => {
    for (const failure of [serverError(2), new TypeError('a defect')]) {
      const { db, commands } = databaseWith([failure]);
      await expect(findRaw(db, 'pets', query)).rejects.toBe(failure);
      expect(commands).toHaveLength(1);
    }
  });
});

describe('findAllRaw', () => {
  // More than ten, so that names of elements have different lengths.
  const results = Array.from({ length: 12 }, (_, count) =>
    Array.from({ length: count }, (_, index) => ({ _id: index, name: 'Rex'.repeat(index), count })),
  );

  test('returns the documents of each query, in one response that the majority has', async () => {
    const bytes = Buffer.from(BSON.serialize(Object.fromEntries(results.entries())));
    const { db, commands } = databaseWith([serverError(189)], [bytes]);
    const read = await findAllRaw(db, 'pets', Array(12).fill(query));
    expect(read.map((found) => found.map((document) => BSON.deserialize(document)))).toEqual(results);
    expect(commands).toHaveLength(2);
    expect(commands[1]).toMatchObject({ readConcern: { level: 'majority' }, maxTimeMS: 9 });
  });
});

describe('isRetryable', () => {
  // Not a part of the driver's interface.
  const { isRetryableReadError } = createRequire(import.meta.url)('mongodb/lib/error') as {
    isRetryableReadError(error: MongoError): boolean;
  };

  test('agrees with the driver on every code of an error', () => {
    for (let code = 0; code < 20_000; code += 1) {
      expect(isRetryable(serverError(code)), `code ${code}`).toBe(isRetryableReadError(serverError(code)));
    }
  });

  test('agrees with the driver on errors without a code', () => {
    for (const error of [new MongoNetworkError('closed'), new MongoError('no')]) {
      expect(isRetryable(error)).toBe(isRetryableReadError(error));
    }
  });
});

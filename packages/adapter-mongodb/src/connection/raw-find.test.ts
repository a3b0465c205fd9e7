import { createRequire } from 'node:module';
import { type Db, type Document, MongoError, MongoNetworkError, MongoServerError } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { findRaw, isRetryable } from './raw-find.ts';

const serverError = (code: number) => new MongoServerError({ message: 'no', code });
const documents = [Buffer.from('bytes')];

/** A database that responds to each command with the next of the given errors, and after them with documents. */
function databaseWith(...failures: unknown[]) {
  const commands: Document[] = [];
  const db = {
    async command(command: Document) {
      commands.push(command);
      if (failures.length > 0) throw failures.shift();
      return { cursor: { firstBatch: documents } };
    },
  };
  return { db: db as unknown as Db, commands };
}

describe('findRaw', () => {
  test('reads what the majority has, in one response', async () => {
    const { db, commands } = databaseWith();
    expect(await findRaw(db, { find: 'pets', limit: 500 })).toBe(documents);
    expect(commands).toEqual([
      { find: 'pets', limit: 500, batchSize: 500, singleBatch: true, readConcern: { level: 'majority' } },
    ]);
  });

  test('repeats the command once after a failure that may have passed', async () => {
    for (const failure of [serverError(189), new MongoNetworkError('closed')]) {
      const { db, commands } = databaseWith(failure);
      expect(await findRaw(db, {})).toBe(documents);
      expect(commands).toHaveLength(2);
    }
  });

  test('fails with the second failure', async () => {
    const second = serverError(91);
    const { db, commands } = databaseWith(serverError(189), second);
    await expect(findRaw(db, {})).rejects.toBe(second);
    expect(commands).toHaveLength(2);
  });

  test('does not repeat the command after any other failure', async () => {
    for (const failure of [serverError(2), new TypeError('a defect')]) {
      const { db, commands } = databaseWith(failure);
      await expect(findRaw(db, {})).rejects.toBe(failure);
      expect(commands).toHaveLength(1);
    }
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

import { createRequire } from 'node:module';
import { BSON, type Db, MongoError, MongoNetworkError, MongoServerError } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { isRetryable, readRaw, valuesOf } from './raw-reads.ts';

const serverError = (code: number) => new MongoServerError({ message: 'no', code });

describe('readRaw', () => {
  const [passing, other] = [serverError(189), serverError(2)];

  test.each([
    ['returns what the command returns', [], null, 1],
    ['repeats the command once after a failure that may have passed', [passing], null, 2],
    ['fails with the second failure', [passing, other], other, 2],
    ['does not repeat the command after any other failure', [other], other, 1],
  ])('%s', async (_, failures, thrown, commands) => {
    let count = 0;
    const command = async (...given: unknown[]) => {
      expect(given).toEqual([
        { find: 'pets', readConcern: { level: 'majority' } },
        { fieldsAsRaw: { firstBatch: true }, readPreference: 'primary' },
      ]);
      const failure = failures[count];
      count += 1;
      if (failure !== undefined) throw failure;
      return { cursor: { firstBatch: ['bytes'] } };
    };
    const read = readRaw({ command } as unknown as Db, { find: 'pets' });
    await (thrown === null ? expect(read).resolves.toEqual(['bytes']) : expect(read).rejects.toBe(thrown));
    expect(count).toBe(commands);
  });
});

test('valuesOf splits arrays and documents of any number and length', () => {
  // With more than ten, names of elements have different lengths.
  const arrays = Array.from({ length: 12 }, (_, count) =>
    Array.from({ length: count }, (_, index) => ({ _id: index, name: 'Rex'.repeat(index), count })),
  );
  const bytes = Buffer.from(BSON.serialize({ ...arrays }));
  const read = valuesOf(bytes).map((array) => valuesOf(array).map((document) => BSON.deserialize(document)));
  expect(read).toEqual(arrays);
});

test('isRetryable agrees with the driver on every error', () => {
  // The function is no part of the driver's interface.
  const { isRetryableReadError } = createRequire(import.meta.url)('mongodb/lib/error') as {
    isRetryableReadError(error: MongoError): boolean;
  };
  for (let code = 0; code < 20_000; code += 1) {
    expect(isRetryable(serverError(code)), `code ${code}`).toBe(isRetryableReadError(serverError(code)));
  }
  for (const error of [new MongoNetworkError('closed'), new MongoError('no')]) {
    expect(isRetryable(error)).toBe(isRetryableReadError(error));
  }
});

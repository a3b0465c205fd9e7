import { describe, expect, test } from 'vitest';
import { toOpenError, toPortError } from './failures.ts';

const PATH = '/var/lib/animals.db';

const sqliteError = (errcode: number) =>
  Object.assign(new Error(`error ${errcode} in ${PATH}`), { code: 'ERR_SQLITE_ERROR', errcode });

const misconfigured = (reason: string) =>
  expect.objectContaining({ name: 'StorageMisconfigured', message: `${PATH} cannot be used: ${reason}` });

const TRANSIENT = [
  ['SQLITE_BUSY', 5],
  ['SQLITE_NOMEM', 7],
  ['SQLITE_IOERR_FSYNC', 1034],
  ['SQLITE_FULL', 13],
] as const;

const IN_NEED_OF_REPAIR = [
  ['SQLITE_READONLY_DBMOVED', 1032, 'this user may not write it'],
  ['SQLITE_CORRUPT', 11, 'it is damaged: restore a backup'],
  ['SQLITE_CORRUPT_INDEX', 779, 'it is damaged: restore a backup'],
  ['SQLITE_PROTOCOL', 15, 'its file system does not lock files: put it on a local disk'],
  ['SQLITE_NOTADB', 26, 'it is not a SQLite database'],
] as const;

const DEFECTS = [
  ['SQLITE_ERROR', sqliteError(1)],
  ['SQLITE_CONSTRAINT_CHECK', sqliteError(275)],
  ['SQLITE_CONSTRAINT_UNIQUE', sqliteError(2067)],
  ['SQLITE_MISMATCH', sqliteError(20)],
  ['no error of SQLite', new TypeError('not a function')],
] as const;

describe('an error of a call', () => {
  test.each([...TRANSIENT, ['SQLITE_CANTOPEN', 14] as const])('%s is an outage', (_, code) => {
    const error = sqliteError(code);
    expect(toPortError(PATH, error)).toMatchObject({
      code: 'storage_unavailable',
      message: 'the storage is unavailable or does not respond in time: try again',
      cause: error,
    });
  });

  test.each(IN_NEED_OF_REPAIR)('%s names the file and the reason for the operator alone', (_, code, reason) => {
    expect(toPortError(PATH, sqliteError(code))).toMatchObject({
      code: 'storage_unavailable',
      message: 'the storage cannot be used until its operator has repaired it',
      cause: misconfigured(reason),
    });
  });

  test.each(DEFECTS)('%s is a defect, thrown as it is', (_, error) => {
    expect(toPortError(PATH, error)).toBe(error);
  });
});

describe('an error at the opening', () => {
  test.each(TRANSIENT)('%s is an outage, and the file is opened later', (_, code) => {
    const error = sqliteError(code);
    expect(toOpenError(PATH, error)).toBe(error);
  });

  test.each([
    ...IN_NEED_OF_REPAIR,
    ['SQLITE_CANTOPEN', 14, 'it must be a file in a folder that exists, where this user may write'] as const,
  ])('%s is a configuration error', (_, code, reason) => {
    expect(toOpenError(PATH, sqliteError(code))).toEqual(misconfigured(reason));
  });

  test('another error is a configuration error with its message', () => {
    expect(toOpenError(PATH, new Error('it is too new'))).toEqual(misconfigured('it is too new'));
  });
});

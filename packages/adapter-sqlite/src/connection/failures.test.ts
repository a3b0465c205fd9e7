import { describe, expect, test } from 'vitest';
import { UnusableFile } from './errors.ts';
import { toMisconfigured, toPortError } from './failures.ts';

const PATH = '/var/lib/animals.db';
const DAMAGED = 'it is damaged: restore a backup';
const CANTOPEN = 'it must be a file in a folder that exists, where this user may write';
const OUTAGE = 'the storage is unavailable or does not respond in time: try again';
const REPAIR = 'the storage cannot be used until its operator has repaired it';

const sqliteError = (errcode: number) =>
  Object.assign(new Error(`error ${errcode} in ${PATH}`), { code: 'ERR_SQLITE_ERROR', errcode });

const misconfigured = (reason: string, cause: Error) =>
  expect.objectContaining({ name: 'StorageMisconfigured', message: `${PATH} cannot be used: ${reason}`, cause });

describe.each<[string, number, atOpening: string | null, ofCall: string | null]>([
  ['SQLITE_BUSY', 5, null, null],
  ['SQLITE_NOMEM', 7, null, null],
  ['SQLITE_IOERR_FSYNC', 1034, null, null],
  ['SQLITE_FULL', 13, null, null],
  ['SQLITE_CANTOPEN', 14, CANTOPEN, null],
  ['SQLITE_READONLY_DBMOVED', 1032, 'this user may not write it', 'this user may not write it'],
  ['SQLITE_CORRUPT', 11, DAMAGED, DAMAGED],
  ['SQLITE_CORRUPT_INDEX', 779, DAMAGED, DAMAGED],
  ['SQLITE_PROTOCOL', 15, ...both('its file system does not lock files: put it on a local disk')],
  ['SQLITE_NOTADB', 26, ...both('it is not a SQLite database')],
])('%s', (_, code, atOpening, ofCall) => {
  const error = sqliteError(code);

  test(`becomes at the opening ${atOpening === null ? 'an outage' : 'a configuration error'}`, () => {
    expect(toMisconfigured(PATH, error)).toEqual(atOpening === null ? null : misconfigured(atOpening, error));
  });

  test(`becomes in a call ${ofCall === null ? 'an outage' : 'an error with file and reason for the operator alone'}`, () => {
    expect(toPortError(PATH, error)).toMatchObject({
      code: 'storage_unavailable',
      message: ofCall === null ? OUTAGE : REPAIR,
      cause: ofCall === null ? error : misconfigured(ofCall, error),
    });
  });
});

function both(reason: string): [string, string] {
  return [reason, reason];
}

test.each([
  ['SQLITE_ERROR', sqliteError(1)],
  ['SQLITE_CONSTRAINT_CHECK', sqliteError(275)],
  ['SQLITE_CONSTRAINT_UNIQUE', sqliteError(2067)],
  ['SQLITE_MISMATCH', sqliteError(20)],
  ['no error of SQLite', new TypeError('not a function')],
  ['an error of Node.js', Object.assign(new TypeError('not open'), { code: 'ERR_INVALID_STATE' })],
  ['an error with a code of something else', Object.assign(new Error('no'), { code: 'EMFILE?' })],
])('%s is thrown unchanged by a call, and becomes a configuration error at the opening', (_, error) => {
  expect(toPortError(PATH, error)).toBe(error);
  expect(toMisconfigured(PATH, error)).toEqual(misconfigured(error.message, error));
});

test('a failed call of the system is an outage, at the opening, too', () => {
  const error = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  expect(toMisconfigured(PATH, error)).toBeNull();
  expect(toPortError(PATH, error)).toMatchObject({ code: 'storage_unavailable', message: OUTAGE, cause: error });
});

test('a file that cannot be used is a configuration error with its reason', () => {
  const error = new UnusableFile('it must be a regular file');
  const expected = misconfigured('it must be a regular file', error);
  expect(error.name).toBe('UnusableFile');
  expect(toMisconfigured(PATH, error)).toEqual(expected);
  expect(toPortError(PATH, error)).toMatchObject({ message: REPAIR, cause: expected });
});

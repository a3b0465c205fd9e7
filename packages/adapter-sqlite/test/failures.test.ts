import { StorageMisconfigured } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { isEnvironmental, reasonForOperator, UnusableFile } from '../src/failures.ts';

const sqliteError = (errcode: number) =>
  Object.assign(new Error(`error ${errcode}`), { code: 'ERR_SQLITE_ERROR', errcode });

const DAMAGED = 'it is damaged: restore a backup';

test.each<[string, Error, isEnvironmental: boolean, reason: string | null]>([
  ['SQLITE_BUSY', sqliteError(5), true, null],
  ['SQLITE_NOMEM', sqliteError(7), true, null],
  ['SQLITE_READONLY_DBMOVED', sqliteError(1032), true, 'this user may not write it'],
  ['SQLITE_IOERR_FSYNC', sqliteError(1034), true, null],
  ['SQLITE_CORRUPT_INDEX', sqliteError(779), true, DAMAGED],
  ['SQLITE_FULL', sqliteError(13), true, null],
  ['SQLITE_CANTOPEN', sqliteError(14), true, 'it must be a file in a folder that exists, where this user may write'],
  ['SQLITE_PROTOCOL', sqliteError(15), true, 'its file system does not lock files: put it on a local disk'],
  ['SQLITE_NOTADB', sqliteError(26), true, 'it is not a SQLite database'],
  ['a failed call of the system', Object.assign(new Error('no'), { code: 'EMFILE' }), true, null],
  ['no thread', Object.assign(new Error('no'), { code: 'ERR_WORKER_INIT_FAILED' }), true, null],
  ['no response in time', Object.assign(new Error('no'), { name: 'TimeoutError' }), true, null],
  ['a file that cannot be used', new UnusableFile('it must be a regular file'), true, 'it must be a regular file'],
  ['SQLITE_ERROR', sqliteError(1), false, null],
  ['SQLITE_CONSTRAINT_CHECK', sqliteError(275), false, null],
  ['an error of Node.js', Object.assign(new TypeError('no'), { code: 'ERR_INVALID_STATE' }), false, null],
  ['a configuration error', new StorageMisconfigured('no'), false, null],
])('judges %s', (_, error, expected, reason) => {
  expect([isEnvironmental(error), reasonForOperator(error)]).toEqual([expected, reason]);
});

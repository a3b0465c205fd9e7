import { StorageMisconfigured } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { reasonForOperator } from '../src/failures.ts';

const sqliteError = (errcode: number) =>
  Object.assign(new Error(`error ${errcode}`), { code: 'ERR_SQLITE_ERROR', errcode });

/** Three kinds: a reason for the operator; null: a later call may succeed; undefined: a defect. */
test.each<[string, Error, reason: string | null | undefined]>([
  ['SQLITE_BUSY', sqliteError(5), null],
  ['SQLITE_NOMEM', sqliteError(7), null],
  ['SQLITE_READONLY_DBMOVED', sqliteError(1032), 'this user may not write it, or its log (-wal)'],
  ['SQLITE_READONLY_DIRECTORY', sqliteError(1544), 'this user may not write its folder, where its log must be'],
  ['SQLITE_IOERR_FSYNC', sqliteError(1034), null],
  ['SQLITE_CORRUPT_INDEX', sqliteError(779), 'it is damaged: restore a backup'],
  ['SQLITE_FULL', sqliteError(13), null],
  [
    'SQLITE_CANTOPEN',
    sqliteError(14),
    'it and its log (-wal) must be files in a folder that exists, where this user may write',
  ],
  ['SQLITE_PROTOCOL', sqliteError(15), 'its file system does not lock files: put it on a local disk'],
  ['SQLITE_NOTADB', sqliteError(26), 'it is not a SQLite database'],
  ['a failed call of the system', Object.assign(new Error('no'), { code: 'EMFILE' }), null],
  ['no thread', Object.assign(new Error('no'), { code: 'ERR_WORKER_INIT_FAILED' }), null],
  ['a thread without memory', Object.assign(new Error('no'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }), null],
  ['no response in time', Object.assign(new Error('no'), { name: 'TimeoutError' }), null],
  ['SQLITE_ERROR', sqliteError(1), undefined],
  ['SQLITE_CONSTRAINT_CHECK', sqliteError(275), undefined],
  ['an error of Node.js', Object.assign(new TypeError('no'), { code: 'ERR_INVALID_STATE' }), undefined],
  ['a configuration error', new StorageMisconfigured('no'), undefined],
])('judges %s', (_, error, reason) => {
  expect(reasonForOperator(error)).toBe(reason);
});

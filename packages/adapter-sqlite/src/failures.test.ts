import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { kindOf, toPortError } from './failures.ts';

const failure = (members: object) => Object.assign(new Error('no'), members);

/** What the operator reads; null: the message of the failure; undefined: a defect. */
test.each<[string, Error, reason: string | null | undefined, writes?: 'one']>([
  ['SQLITE_NOMEM', failure({ errcode: 7 }), null],
  ['SQLITE_IOERR_READ, an extended code', failure({ errcode: 266 }), null],
  ['SQLITE_FULL', failure({ errcode: 13 }), null],
  ['SQLITE_PROTOCOL', failure({ errcode: 15 }), 'its file system does not lock files: put it on a local disk'],
  ['SQLITE_ABORT_ROLLBACK', failure({ errcode: 516 }), null],
  ['SQLITE_CONSTRAINT_CHECK', failure({ errcode: 275 }), undefined, 'one'],
  ['SQLITE_CONSTRAINT_UNIQUE', failure({ errcode: 2_067 }), null, 'one'],
  ['SQLITE_CORRUPT_INDEX', failure({ errcode: 779 }), null],
  ['SQLITE_MISMATCH', failure({ errcode: 20 }), undefined],
  ['a failed call of the system', failure({ code: 'EMFILE' }), null],
  ['no thread', failure({ code: 'ERR_WORKER_INIT_FAILED' }), null],
  ['a thread without memory', failure({ code: 'ERR_WORKER_OUT_OF_MEMORY' }), null],
  ["a value that can't be bound", failure({ code: 'ERR_INVALID_ARG_TYPE' }), undefined, 'one'],
  ['an error without a code', failure({}), undefined],
])('judges %s', (_, error, reason, writes = 'transaction' as never) => {
  expect(kindOf(error).writes).toBe(writes);
  const reported = toPortError('/animals.db', error) as Error;
  if (reason === undefined) return expect(reported).toBe(error);
  expect(DomainError.is(reported)).toBe(true);
  if (reason === null) return expect(reported.cause).toBe(error);
  expect(StorageMisconfigured.is(reported.cause)).toBe(true);
  expect(reported.cause).toMatchObject({ message: `/animals.db cannot be used: ${reason}`, cause: error });
});

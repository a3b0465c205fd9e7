import { expect, test } from 'vitest';
import { reasonForOperator } from './failures.ts';

const failure = (members: object) => Object.assign(new Error('no'), members);

/** Three kinds: a reason for the operator; null: a later call may succeed; undefined: a defect. */
test.each<[string, Error, reason: string | null | undefined]>([
  ['SQLITE_NOMEM', failure({ errcode: 7 }), null],
  ['SQLITE_FULL', failure({ errcode: 13 }), null],
  ['SQLITE_PROTOCOL', failure({ errcode: 15 }), 'its file system does not lock files: put it on a local disk'],
  ['no thread', failure({ code: 'ERR_WORKER_INIT_FAILED' }), null],
  ['a thread without memory', failure({ code: 'ERR_WORKER_OUT_OF_MEMORY' }), null],
])('judges %s', (_, error, reason) => {
  expect(reasonForOperator(error)).toBe(reason);
});

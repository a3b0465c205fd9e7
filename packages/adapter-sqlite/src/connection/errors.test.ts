import { expect, test } from 'vitest';
import { fromMessage, isBusy, isDamage, toMessage } from './errors.ts';

const sqliteError = (errcode: number) =>
  Object.assign(new Error(`error ${errcode}`), { code: 'ERR_SQLITE_ERROR', errcode });

test.each([
  ['SQLITE_BUSY', 5, true, false],
  ['SQLITE_BUSY_SNAPSHOT', 517, true, false],
  ['SQLITE_CORRUPT', 11, false, true],
  ['SQLITE_CORRUPT_INDEX', 779, false, true],
  ['SQLITE_NOTADB', 26, false, true],
  ['SQLITE_IOERR', 10, false, false],
])('isBusy and isDamage judge %s', (_, errcode, busy, damage) => {
  const error = sqliteError(errcode);
  expect([isBusy(error), isDamage(error)]).toEqual([busy, damage]);
});

test('an error keeps its message and its members in another thread', () => {
  const error = fromMessage(structuredClone(toMessage(sqliteError(13))));
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ message: 'error 13', code: 'ERR_SQLITE_ERROR', errcode: 13 });
});

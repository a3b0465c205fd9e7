import { inspect } from 'node:util';
import type { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { meaningOf, toPortError } from './failures.ts';

const serverError = (code: string) => Object.assign(new pg.DatabaseError('no', 0, 'error'), { code });

/** An error of another program, which may have any code. */
const otherError = (code: string) => Object.assign(new Error('no'), { code });

describe('toPortError', () => {
  test.each([
    ['08P01', /^a pooler must be in session mode.*: no$/],
    ['26000', /^a pooler must be in session mode/],
    ['28000', /^the server rejects the role.*: no$/],
    ['42P05', /^a pooler must be in session mode/],
  ])('says in the cause of storage_unavailable what the operator must change: %s', (code, line) => {
    const { cause } = toPortError(serverError(code)) as DomainError;
    expect(cause).toSatisfy(StorageMisconfigured.is);
    expect(cause).toMatchObject({ message: expect.stringMatching(line), cause: { message: 'no', code } });
  });

  // It may also connect to another server, name a schema, and create a table.
  test.each(['42P01', '42501', '3F000', '42P07', '08001', '25006'])(
    'names the function of an administrator that fails with %s, without the rows that the context quotes',
    (code) => {
      const where = `SQL statement "INSERT INTO log VALUES ('Max')"\nPL/pgSQL function zoo.log(text) line 2 at EXECUTE`;
      const failure = Object.assign(serverError(code), { where, detail: 'Max', internalQuery: "VALUES ('Max')" });
      expect(meaningOf(failure)).toMatchObject({ connection: 'kept', pools: 'kept', repeated: 'never' });
      const line = 'a trigger or a function of an administrator fails, correct it: PL/pgSQL function zoo.log(text): no';
      // A batch has one failure for several calls.
      for (const error of [toPortError(failure), toPortError(failure)] as DomainError[]) {
        expect(error.cause).toMatchObject({ name: 'StorageMisconfigured', message: line });
        expect(inspect(error)).not.toContain('Max');
      }
      const defect = Object.assign(serverError('22012'), { where, detail: 'Max', internalQuery: "VALUES ('Max')" });
      expect(toPortError(defect)).toBe(defect);
      expect(inspect(defect)).not.toContain('Max');
    },
  );

  test.each([
    ['a server that stops', serverError('57P01'), 'no', '57P01'],
    ['a code of something else', otherError('28P01'), 'no', '28P01'],
    [
      'addresses that accept no connection',
      Object.assign(new AggregateError([new Error('one'), new Error('two')]), { code: 'ECONNREFUSED' }),
      'one, two',
      'ECONNREFUSED',
    ],
  ])('reports %s as storage_unavailable', (_, failure, message, code) => {
    const error = toPortError(failure) as DomainError;
    expect(error).toMatchObject({ code: 'storage_unavailable', cause: { message, code } });
    expect(error.cause).not.toSatisfy(StorageMisconfigured.is);
  });

  test.each<[string, Error]>([
    ['an error of the ports', unavailable(new Error('no'))],
    ['an error for an argument of the wrong type', new TypeError('a defect')],
    ...['0A000', '21000', '22003', '23514', '42601', '44000', 'P0001'].map((code): [string, Error] => [
      code,
      serverError(code),
    ]),
  ])('returns %s unchanged', (_, failure) => {
    expect(toPortError(failure)).toBe(failure);
  });
});

import type { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { toPortError } from './failures.ts';

const serverError = (code: string) => Object.assign(new pg.DatabaseError('no', 0, 'error'), { code });

/** An error of another program, which may have any code. */
const otherError = (code: string) => Object.assign(new Error('no'), { code });

describe('toPortError', () => {
  test.each<[string, Error, string | RegExp, string]>([
    ['the code 08P01', serverError('08P01'), /^a pooler must be in session mode.*: no$/, '08P01'],
    ['the code 26000', serverError('26000'), /^a pooler must be in session mode/, '26000'],
    ['the code 28000', serverError('28000'), /^the server rejects the role.*: no$/, '28000'],
    ['the code 42P05', serverError('42P05'), /^a pooler must be in session mode/, '42P05'],
    ['a server that stops', serverError('57P01'), 'no', '57P01'],
    ['a code of something else', otherError('28P01'), 'no', '28P01'],
    [
      'addresses that accept no connection',
      Object.assign(new AggregateError([new Error('one'), new Error('two')]), { code: 'ECONNREFUSED' }),
      'one, two',
      'ECONNREFUSED',
    ],
  ])('reports %s as storage_unavailable, and what the operator must change', (_, failure, line, code) => {
    const error = toPortError(failure);
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    const { cause } = error as DomainError;
    const isMisconfiguration = line instanceof RegExp;
    expect(StorageMisconfigured.is(cause)).toBe(isMisconfiguration);
    const message = isMisconfiguration ? expect.stringMatching(line) : line;
    expect(cause).toMatchObject(isMisconfiguration ? { message, cause: { message: 'no', code } } : { message, code });
  });

  test.each<[string, Error]>([
    ['an error for an argument of the wrong type', new TypeError('a defect')],
    ...['0A000', '21000', '22003', '23514', '42601', '44000', 'P0001'].map((code): [string, Error] => [
      code,
      serverError(code),
    ]),
  ])('returns %s unchanged', (_, failure) => {
    expect(toPortError(failure)).toBe(failure);
  });
});

import { describe, expect, test } from 'vitest';
import { quote } from '../quote.ts';
import { checkedPetQuery, type PetQuery } from './pet-query.ts';

describe('checkedPetQuery', () => {
  test.each<PetQuery>([
    {},
    { limit: 1 },
    { limit: 100 },
    { status: 'available' },
    { status: 'pending' },
    { status: 'sold' },
    { after: 0n },
    { after: 2n ** 63n - 1n },
    { limit: undefined, status: undefined, after: undefined },
  ])('accepts %o', (query) => {
    const { limit = 20, status, after = 0n } = query;
    expect(checkedPetQuery(query)).toStrictEqual({ limit, status, after });
  });

  const LIMIT = 'limit must be an integer from 1 to 100, was';
  const STATUS = 'status must be one of available, pending, sold, was';
  const AFTER = 'after must be an id or 0, was';

  function expectRejected(query: unknown, message: string): void {
    expect(() => checkedPetQuery(query)).toThrow(expect.objectContaining({ code: 'invalid', message }));
  }

  test.each([0, -1, 101, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects the limit %d', (limit) =>
    expectRejected({ limit }, `${LIMIT} ${limit}`),
  );

  test.each<[object, rule: string, value: unknown]>([
    ...['5', '05', 5n, null].map((limit) => [{ limit }, LIMIT, limit] as [object, string, unknown]),
    ...['Sold', '', null].map((status) => [{ status }, STATUS, status] as [object, string, unknown]),
    ...[-1n, 2n ** 63n, 1, null].map((after) => [{ after }, AFTER, after] as [object, string, unknown]),
  ])('rejects %o', (query, rule, value) => expectRejected(query, `${rule} ${quote(value)}`));

  test.each<[unknown, string]>([
    [{ cursor: 'AQ' }, 'the query must have no cursor, only limit, status, after'],
    [null, 'the query must be an object, was null'],
    ['sold', 'the query must be an object, was "sold"'],
  ])('rejects %o', expectRejected);

  test('names all violations at once', () =>
    expectRejected({ limit: 0, status: 'lost', after: -1n }, `${LIMIT} 0; ${STATUS} "lost"; ${AFTER} -1`));
});

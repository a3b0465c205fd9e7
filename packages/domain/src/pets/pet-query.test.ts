import { describe, expect, test } from 'vitest';
import { rejectionOf } from '../../test/rejection.ts';
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

  test.each<[unknown, string]>([
    [{ limit: 0 }, `${LIMIT} 0`],
    [{ limit: -1 }, `${LIMIT} -1`],
    [{ limit: 101 }, `${LIMIT} 101`],
    [{ limit: 1.5 }, `${LIMIT} 1.5`],
    [{ limit: Number.NaN }, `${LIMIT} NaN`],
    [{ limit: Number.POSITIVE_INFINITY }, `${LIMIT} Infinity`],
    [{ limit: '5' }, `${LIMIT} "5"`],
    [{ limit: '05' }, `${LIMIT} "05"`],
    [{ limit: 5n }, `${LIMIT} 5`],
    [{ limit: null }, `${LIMIT} null`],
    [{ status: 'Sold' }, `${STATUS} "Sold"`],
    [{ status: '' }, `${STATUS} ""`],
    [{ status: null }, `${STATUS} null`],
    [{ after: -1n }, `${AFTER} -1`],
    [{ after: 2n ** 63n }, `${AFTER} 9223372036854775808`],
    [{ after: 1 }, `${AFTER} the number 1`],
    [{ after: null }, `${AFTER} null`],
    [{ cursor: 'AQ' }, 'the query must have no cursor, only limit, status and after'],
    [null, 'the query must be an object, was null'],
    ['sold', 'the query must be an object, was "sold"'],
  ])('rejects %o', async (query, message) => {
    expect(await rejectionOf(() => checkedPetQuery(query))).toEqual({ code: 'invalid', message });
  });

  test('names all violations at once', async () => {
    const query = { limit: 0, status: 'lost', after: -1n };
    expect((await rejectionOf(() => checkedPetQuery(query))).message).toBe(`${LIMIT} 0; ${STATUS} "lost"; ${AFTER} -1`);
  });
});

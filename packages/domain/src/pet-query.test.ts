import { describe, expect, test } from 'vitest';
import { refusalOf } from '../test/refusal.ts';
import { checkPetQuery, isPageLimit, limitViolation, type PetQuery } from './pet-query.ts';

describe('a page can be asked for', () => {
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
  ])('with %o', (query) => {
    expect(() => checkPetQuery(query)).not.toThrow();
  });
});

describe('a page cannot be asked for', () => {
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
    [{ limit: 5n }, `${LIMIT} 5`],
    [{ limit: null }, `${LIMIT} null`],
    [{ status: 'Sold' }, `${STATUS} "Sold"`],
    [{ status: '' }, `${STATUS} ""`],
    [{ status: null }, `${STATUS} null`],
    [{ after: -1n }, `${AFTER} -1`],
    [{ after: 2n ** 63n }, `${AFTER} 9223372036854775808`],
    [{ after: 1 }, `${AFTER} a number`],
    [{ after: null }, `${AFTER} null`],
  ])('with %o', async (query, message) => {
    expect(await refusalOf(() => checkPetQuery(query as PetQuery))).toEqual({ code: 'invalid_request', message });
  });

  test('with several violations, of which each is named', async () => {
    const query = { limit: 0, status: 'lost', after: -1n };
    expect((await refusalOf(() => checkPetQuery(query as unknown as PetQuery))).message).toBe(
      `${LIMIT} 0; ${STATUS} "lost"; ${AFTER} -1`,
    );
  });
});

test('a transport can tell a limit before it asks, and quote what was no limit', () => {
  expect([1, 20, 100].map(isPageLimit)).toEqual([true, true, true]);
  expect([0, 101, 1.5, '5', undefined].map(isPageLimit)).toEqual([false, false, false, false, false]);
  expect(limitViolation('05')).toBe('limit must be an integer from 1 to 100, was "05"');
});

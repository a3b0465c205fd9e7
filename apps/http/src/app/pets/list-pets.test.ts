import type { PetQuery } from '@animal-store/domain';
import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type App, test } from '../../../test/service.ts';

interface Listed {
  id: number;
  name: string;
  status?: string;
}

async function list({ call }: App, path: string): Promise<{ pets: Listed[]; next: string | null }> {
  const { status, headers, json } = await call('GET', path);
  expect([path, status, headers['content-type']]).toEqual([path, 200, 'application/json']);
  const { link } = headers;
  const next = link === undefined ? null : (/^<([^>]+)>; rel="next"$/.exec(String(link))?.[1] as string);
  expect(next).not.toBeUndefined();
  return { pets: json as Listed[], next };
}

/** Creates a pet. */
async function addOne({ add }: App, status?: string): Promise<Listed> {
  return (await add({ name: 'Rex', categoryId: 1, status })).json as Listed;
}

describe('listPets', () => {
  test('accepts a cursor with another limit and status', async ({ app }) => {
    for (let count = 0; count < 2; count += 1) await addOne(app, 'sold');
    const other = await addOne(app);
    const { next } = await list(app, '/v1/pets?status=sold&limit=1');
    expect(next).toMatch(/^\/v1\/pets\?limit=1&status=sold&cursor=[\w-]+$/);
    const cursor = new URLSearchParams(next?.split('?')[1]).get('cursor');
    const { pets } = await list(app, `/v1/pets?limit=4&cursor=${cursor}`);
    expect(pets.slice(1)).toEqual([other]);
  });

  test.for([
    ...['0', '101', '05', '1e1', '', '٥'].map(
      (limit) =>
        [`limit=${encodeURIComponent(limit)}`, `limit must be an integer from 1 to 100, was "${limit}"`] as const,
    ),
    ['status=', 'status must be one of available, pending, sold, was ""'],
    ['%6Cimit=%30', 'limit must be an integer from 1 to 100, was "0"'],
    ...['limit=5', 'status=sold', 'cursor=AQAAAAAAAAAB'].map(
      (one) => [`${one}&${one}`, `${one.split('=')[0]} must be given once, was given 2 times`] as const,
    ),
    [
      'cursor=z&status=y&limit=x',
      'limit must be an integer from 1 to 100, was "x"; status must be one of available, pending, sold, was "y"; ' +
        'cursor must be one that a Link header of this service gave',
    ],
    [
      'limit=1&limit=2&cursor=a&cursor=b&status=y',
      'limit must be given once, was given 2 times; status must be one of available, pending, sold, was "y"; ' +
        'cursor must be given once, was given 2 times',
    ],
    ['cursor=', 'cursor must be one that a Link header of this service gave'],
    ['cursor=AAAAAAAAAAAA', 'cursor must be one that a Link header of this service gave'],
  ] as const)('rejects ?%s and says why', async ([query, message], { app: { call } }) => {
    expect((await call('GET', `/v1/pets?${query}`)).json).toEqual({ code: 'invalid_request', message, status: 400 });
  });

  test.for([
    ...['?page=2', '?Limit=0', '?limit[]=0', '??limit=0', '?', '?&&', '?=', '?%zz=%zz', '?__proto__=1'],
    ...['?%6Cimit=%35', '?status=s%6Fld'],
  ])('accepts %s', async (query, { app: { call } }) => {
    expect((await call('GET', `/v1/pets${query}`)).status).toBe(200);
  });

  const filters = { status: 'sold' } satisfies Record<Exclude<keyof PetQuery, 'limit' | 'after'>, unknown>;

  test.for(Object.entries(filters))('selects pets by their %s', async ([name, value], { app }) => {
    const { json } = await app.add({ name: 'Rex', categoryId: 1, [name]: value });
    await app.add({ name: 'Bo', categoryId: 2 });
    expect((await list(app, `/v1/pets?${name}=${value}`)).pets).toEqual([json]);
  });

  test('yields the matching pets in order along the links, for any pets, limit and filter', async ({ app }) => {
    const added: Listed[] = [];
    const statuses = fc.constantFrom('available', 'pending', 'sold', undefined);
    await fc.assert(
      fc.asyncProperty(
        fc.array(statuses, { maxLength: 20 }),
        fc.integer({ min: 1, max: 100 }),
        statuses,
        async (toAdd, limit, status) => {
          for (const one of toAdd) added.push(await addOne(app, one));
          const filter = status === undefined ? '' : `&status=${status}`;
          const pets: Listed[] = [];
          for (let at: string | null = `/v1/pets?limit=${limit}${filter}`; at !== null; ) {
            const page = await list(app, at);
            pets.push(...page.pets);
            if (page.next !== null) expect(page.pets).toHaveLength(limit);
            at = page.next;
          }
          expect(pets).toEqual(added.filter((pet) => status === undefined || pet.status === status));
        },
      ),
      { numRuns: 20 },
    );
  });

  test('responds to HEAD like GET, without the body', async ({ app }) => {
    for (let count = 0; count < 2; count += 1) await addOne(app);
    const get = await app.call('GET', '/v1/pets?limit=1');
    const head = await app.call('HEAD', '/v1/pets?limit=1');
    const { 'x-request-id': _, ...headers } = get.headers;
    expect(head).toMatchObject({ status: 200, text: '', headers });
    expect(await app.call('HEAD', '/v1/pets?limit=0')).toMatchObject({ status: 400, text: '' });
  });
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorLike, type Service, startService } from './service.ts';

interface Listed {
  id: number;
  name: string;
  status?: string;
}

async function list(service: Service, path: string): Promise<{ pets: Listed[]; next: string | null }> {
  const response = await service.call('GET', path);
  expect([path, response.status, response.headers['content-type']]).toEqual([path, 200, 'application/json']);
  const { link } = response.headers;
  const next = link === undefined ? null : (/^<([^>]+)>; rel="next"$/.exec(String(link))?.[1] as string);
  expect(next).not.toBeUndefined();
  return { pets: response.json as Listed[], next };
}

async function follow(service: Service, path: string): Promise<Listed[]> {
  const pets: Listed[] = [];
  for (let at: string | null = path; at !== null; ) {
    const page = await list(service, at);
    pets.push(...page.pets);
    at = page.next;
  }
  return pets;
}

/**
 * Adds animals one after the other.
 *
 * @returns Their ids.
 */
async function addMany(service: Service, count: number, status?: string): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const response = await service.add({ name: `Rex ${index}`, categoryId: 1, status });
    ids.push((response.json as Listed).id);
  }
  return ids;
}

test('returns an empty array for an empty catalogue', async () => {
  const { call } = await startService();
  const response = await call('GET', '/v1/pets');
  expect([response.status, response.text, response.headers['link']]).toEqual([200, '[]', undefined]);
});

test('returns 20 pets by default, in ascending order of id', async () => {
  const service = await startService();
  const ids = await addMany(service, 101);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  const first = await list(service, '/v1/pets');
  expect(first.pets.map(({ id }) => id)).toEqual(ids.slice(0, 20));
  expect(first.next).toMatch(/^\/v1\/pets\?limit=20&cursor=[\w-]+$/);
  for (const limit of [1, 2, 99, 100]) {
    const { pets, next } = await list(service, `/v1/pets?limit=${limit}`);
    expect(pets).toHaveLength(limit);
    expect(next).toMatch(new RegExp(`^/v1/pets\\?limit=${limit}&cursor=[\\w-]+$`));
  }
});

test('returns pets created since the same page was read last, and the link to the next page as soon as there is one', async () => {
  const service = await startService();
  const read = async () => {
    const { pets, next } = await list(service, '/v1/pets?limit=2');
    return [pets.map(({ id }) => id), next !== null];
  };
  expect(await read()).toEqual([[], false]);
  const [first] = await addMany(service, 1);
  expect(await read()).toEqual([[first], false]);
  const [second] = await addMany(service, 1);
  expect(await read()).toEqual([[first, second], false]);
  await addMany(service, 1);
  expect(await read()).toEqual([[first, second], true]);
  expect(await read()).toEqual([[first, second], true]);
});

test('keeps limit and status in the link to the next page, and sends none with the last page', async () => {
  const service = await startService();
  const sold = await addMany(service, 3, 'sold');
  await addMany(service, 2);
  const first = await list(service, '/v1/pets?status=sold&limit=2');
  expect(first.next).toMatch(/^\/v1\/pets\?limit=2&status=sold&cursor=[\w-]+$/);
  const last = await list(service, first.next as string);
  expect([...first.pets, ...last.pets].map(({ id }) => id)).toEqual(sold);
  expect(last.next).toBeNull();
  expect((await list(service, '/v1/pets?limit=5')).next).toBeNull();
});

test('accepts a cursor with another limit and status', async () => {
  const service = await startService();
  await addMany(service, 2, 'sold');
  const others = await addMany(service, 3);
  const { next } = await list(service, '/v1/pets?status=sold&limit=1');
  const cursor = new URLSearchParams(next?.split('?')[1]).get('cursor');
  const { pets } = await list(service, `/v1/pets?limit=4&cursor=${cursor}`);
  expect(pets.map(({ id }) => id).slice(1)).toEqual(others);
});

test('has the base path in the link', async () => {
  const service = await startService({ BASE_PATH: '/animals/v1' });
  for (let count = 0; count < 2; count += 1) {
    const headers = { 'content-type': 'application/json' };
    await service.call('POST', '/animals/v1/pets', { headers, body: '{"name":"Rex","categoryId":1}' });
  }
  const { next } = await list(service, '/animals/v1/pets?limit=1');
  expect(next).toMatch(/^\/animals\/v1\/pets\?limit=1&cursor=/);
  expect((await list(service, next as string)).pets).toHaveLength(1);
});

test.each(['0', '101', '-1', '+5', '05', '5.0', '1e1', '', ' 5', '5 ', 'five', '0x5', '٥', '99999999999999999999'])(
  'rejects limit=%j and says why',
  async (limit) => {
    const { call } = await startService();
    const response = await call('GET', `/v1/pets?limit=${encodeURIComponent(limit)}`);
    expect(response.status).toBe(400);
    expect(response.headers['content-type']).toBe('application/json');
    expect(response.json).toEqual({
      code: 'invalid_request',
      message: `limit must be an integer from 1 to 100, was ${JSON.stringify(limit)}`,
      status: 400,
    });
  },
);

test.each(['Available', 'SOLD', '', 'sold,pending', 'lost', ' sold'])('rejects status=%j', async (status) => {
  const { call } = await startService();
  const response = await call('GET', `/v1/pets?status=${encodeURIComponent(status)}`);
  expect(response.json).toEqual(
    errorLike('invalid_request', 400, /^status must be one of available, pending, sold, was "/),
  );
});

test('rejects a repeated parameter, and ignores an unknown one', async () => {
  const { call } = await startService();
  for (const name of ['limit=5&limit=5', 'status=sold&status=sold', 'cursor=AQAAAAAAAAAB&cursor=AQAAAAAAAAAB']) {
    expect((await call('GET', `/v1/pets?${name}`)).json).toEqual(
      errorLike('invalid_request', 400, /must be given once, was given 2 times$/),
    );
  }
  for (const query of ['?page=2', '?Limit=0', '?limit[]=0', '?', '?&&', '?=', '?%zz=%zz', '?__proto__=1']) {
    expect([query, (await call('GET', `/v1/pets${query}`)).status]).toEqual([query, 200]);
  }
});

test('percent-decodes names and values', async () => {
  const { call } = await startService();
  expect((await call('GET', '/v1/pets?%6Cimit=%35')).status).toBe(200);
  expect((await call('GET', '/v1/pets?%6Cimit=%30')).status).toBe(400);
  expect((await call('GET', '/v1/pets?status=s%6Fld')).status).toBe(200);
});

test.each(['', 'x', '5', 'AAAAAAAAAAAA', 'AQAAAAAAAAAB=', 'AQAAAAAAAAAA', '../../etc', '%00', 'null'])(
  'rejects the malformed cursor %j',
  async (cursor) => {
    const { call } = await startService();
    expect((await call('GET', `/v1/pets?cursor=${cursor}`)).json).toEqual(
      errorLike('invalid_request', 400, /^cursor must/),
    );
  },
);

test('names all violations of a query at once', async () => {
  const { call } = await startService();
  const { json } = await call('GET', '/v1/pets?limit=0&status=lost&cursor=x');
  expect(json).toEqual(errorLike('invalid_request', 400, /^limit must .*; status must .*; cursor must /));
});

test('yields the matching pets in order along the links, for any pets, limit and filter', async () => {
  const service = await startService();
  const added: Listed[] = [];
  const statuses = fc.constantFrom('available', 'pending', 'sold', undefined);
  await fc.assert(
    fc.asyncProperty(
      fc.array(statuses, { maxLength: 20 }),
      fc.integer({ min: 1, max: 100 }),
      statuses,
      async (toAdd, limit, status) => {
        for (const one of toAdd)
          added.push((await service.add({ name: 'Rex', categoryId: 1, status: one })).json as Listed);
        const filter = status === undefined ? '' : `&status=${status}`;
        const expected = added.filter((pet) => status === undefined || pet.status === status);
        expect(await follow(service, `/v1/pets?limit=${limit}${filter}`)).toEqual(expected);
      },
    ),
    { numRuns: 20 },
  );
});

test('responds to HEAD like GET, without the body', async () => {
  const service = await startService();
  await addMany(service, 2);
  const get = await service.call('GET', '/v1/pets?limit=1');
  const head = await service.call('HEAD', '/v1/pets?limit=1');
  expect(head.text).toBe('');
  const { date: _, 'x-request-id': __, ...expected } = get.headers;
  expect(head.headers).toMatchObject(expected);
  expect((await service.call('HEAD', '/v1/pets?limit=0')).status).toBe(400);
});

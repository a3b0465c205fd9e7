import { describe, expect } from 'vitest';
import { errorLike, startApp, test } from '../../../test/service.ts';

describe('getPet', () => {
  const REMOVAL = Date.UTC(2030, 11, 5);
  const DEPRECATION = {
    deprecation: `@${Date.UTC(2026, 10, 20) / 1000}`,
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    link: '</v1/pets>; rel="successor-version"',
  };

  test('returns a pet, and names the date of its removal in every response', async ({ app: { add, call } }) => {
    const added = await add({ name: 'Rex', categoryId: 7, status: 'pending' });
    const response = await call('GET', '/v1/pets/1');
    expect([response.status, response.text]).toEqual([200, added.text]);
    expect(response.headers).toMatchObject({ ...DEPRECATION, 'content-type': 'application/json' });
    expect((await call('HEAD', '/v1/pets/1')).headers).toMatchObject(DEPRECATION);
    expect((await call('GET', '/v1/pets/2')).headers).toMatchObject(DEPRECATION);
  });

  test.for([
    ...['999999', '0', '-1', '+1', '01', '1.0', '1e0', '0x1', 'x', '%20', '1%20', '%2531', '%zz', '1%zz', '1%2F'],
    ...['1;x', '9223372036854775807', '9223372036854775808', '18446744073709551617', '9'.repeat(100), '%EF%BC%91'],
  ])('responds with pet_not_found to %j', async (petId, { app: { add, call } }) => {
    await add({ name: 'Rex', categoryId: 7 });
    const { status, json } = await call('GET', `/v1/pets/${petId}`);
    expect([status, json]).toEqual([404, errorLike('pet_not_found', 404)]);
  });

  test('decodes an escape in the path once', async ({ app: { add, call } }) => {
    await add({ name: 'Rex', categoryId: 7 });
    for (const path of ['/v1/pets/%31', '/%76%31/%70ets/1', '/v1/pets/1?limit=0']) {
      expect([path, (await call('GET', path)).status]).toEqual([path, 200]);
    }
  });

  test('works until its removal, and responds with 410 from then on', async () => {
    const time = { now: REMOVAL - 1 };
    const { add, call } = startApp({}, { clock: () => time.now });
    await add({ name: 'Rex', categoryId: 7 });
    expect((await call('GET', '/v1/pets/1')).status).toBe(200);
    time.now = REMOVAL;
    for (const path of ['/v1/pets/1', '/v1/pets/2', '/v1/pets/x']) {
      const response = await call('GET', path);
      expect([response.status, response.json]).toEqual([410, errorLike('endpoint_removed', 410, /GET \/v1\/pets/)]);
      expect(response.headers).toMatchObject(DEPRECATION);
    }
    expect((await call('GET', '/v1/pets/1', { key: null })).status).toBe(401);
    expect((await call('DELETE', '/v1/pets/1')).status).toBe(405);
    expect((await call('GET', '/v1/pets')).json).toHaveLength(1);
  });
});

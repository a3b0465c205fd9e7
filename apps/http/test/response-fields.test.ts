import { describe, expect, test } from 'vitest';
import { startService } from './service.ts';

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

describe('every response', () => {
  test('returns the X-Request-Id of the request if it is well-formed, else a new one', async () => {
    const { call } = await startService();
    const idOf = async (given?: string) => {
      const headers = given === undefined ? {} : { 'x-request-id': given };
      return String((await call('GET', '/v1/pets', { headers })).headers['x-request-id']);
    };
    for (const given of [
      'x',
      '1234',
      '6f1c7f6e-4f0b-4f0e-9a52-0d6c2b9f1f5e',
      'Root=1-67891233-abcdef012345678912345678',
      'a.b:c/d+e=f@g-h_i',
      'x'.repeat(128),
    ]) {
      expect(await idOf(given)).toBe(given);
    }
    for (const given of [undefined, '', 'a b', '"', '{}', '\u00e9', 'x'.repeat(129), 'a,b']) {
      expect(await idOf(given)).toMatch(UUID);
    }
    expect(await idOf()).not.toBe(await idOf());
    for (const path of ['/livez', '/nothing', '/v1/nothing']) {
      expect((await call('GET', path, { key: null })).headers['x-request-id']).toMatch(UUID);
    }
  });

  test('sends the security header fields with every response', async () => {
    const { add, call, raw } = await startService();
    const responses = [
      await add({ name: 'Rex', categoryId: 1 }),
      await call('GET', '/v1/pets'),
      await call('GET', '/v1/pets/1'),
      await call('GET', '/v1/pets', { key: null }),
      await call('DELETE', '/v1/pets'),
      await call('GET', '/livez'),
      await call('GET', '/metrics'),
      await call('GET', '/nothing'),
    ];
    for (const { headers } of responses) {
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
    }
    for (const bytes of ['hello\r\n\r\n', 'GET /livez HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n']) {
      expect(await raw(bytes)).toMatch(/x-content-type-options: nosniff\r\n/);
    }
  });
});

import { describe, expect, vi } from 'vitest';
import { type Call, test } from '../../test/service.ts';
import { type AppOptions, createApp } from './app.ts';
import { invalidRequest } from './errors.ts';
import { createRecorder } from './exchange.ts';

describe('a response', () => {
  const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
  const LONG = 'x'.repeat(128);

  test('has a well-formed X-Request-Id of the request, otherwise a new one', async ({ app: { call } }) => {
    const idOf = async (given?: string) => {
      const headers = given === undefined ? {} : { 'x-request-id': given };
      return String((await call('GET', '/v1/pets', { headers })).headers['x-request-id']);
    };
    for (const given of ['x', 'Root=1-67891233-abcdef012345678912345678', 'a.b:c/d+e=f@g-h_i', LONG]) {
      expect(await idOf(given)).toBe(given);
    }
    for (const given of [undefined, '', 'a b', '"', '{}', '\u00e9', `${LONG}x`, 'a,b']) {
      expect(await idOf(given)).toMatch(UUID);
    }
    expect(await idOf()).not.toBe(await idOf());
  });

  const FIELDS = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-request-id': expect.stringMatching(UUID),
  };
  const CREATION = { headers: { 'content-type': 'application/json' }, body: '{"name":"Rex","categoryId":1}' };

  test.for<[status: number, method: string, path: string, own: string[], call?: Call]>([
    [200, 'GET', '/v1/pets', ['content-type']],
    [201, 'POST', '/v1/pets', ['content-type', 'location'], CREATION],
    [401, 'GET', '/v1/pets', ['content-type', 'www-authenticate'], { key: null }],
    [404, 'GET', '/nothing', ['content-type'], { key: null }],
    [405, 'PUT', '/v1/pets', ['content-type', 'allow']],
    [200, 'GET', '/livez', ['content-type']],
    [200, 'GET', '/openapi.json', ['content-type']],
    [302, 'GET', '/', ['location']],
  ])('with %d to %s %s has the fields of every response, and %j', async (expected, { app: { call } }) => {
    const [status, method, path, own, options] = expected;
    const response = await call(method, path, options);
    expect(response.status).toBe(status);
    expect(response.headers).toEqual({
      ...FIELDS,
      ...Object.fromEntries(own.map((name) => [name, expect.any(String)])),
    });
  });
});

describe('an observer that fails', () => {
  const defect = new Error('a defect of an observer');
  function createFailing() {
    const observer = vi.fn();
    const onObserverError = vi.fn();
    const fail = () => {
      throw defect;
    };
    const recorder = createRecorder({ observers: [fail, observer], onObserverError });
    return { recorder, observer, onObserverError };
  }

  test('loses no response, hides no request from the other observers, and is reported', async () => {
    const { recorder, observer, onObserverError } = createFailing();
    const app = createApp({ recorder } as AppOptions);
    const response = await app.request('/livez', { headers: { 'x-request-id': 'mine' } });
    expect([response.status, await response.json()]).toEqual([200, { status: 'live' }]);
    expect(observer).toHaveBeenCalledOnce();
    expect(onObserverError).toHaveBeenCalledExactlyOnceWith(defect, expect.objectContaining({ id: 'mine' }));
    expect(recorder.load.inFlight).toBe(0);
  });

  test('loses no rejection of the server', () => {
    const { recorder, observer, onObserverError } = createFailing();
    expect(recorder.reject(invalidRequest('malformed'), { clientAddress: null, header: () => undefined }).status).toBe(
      400,
    );
    expect([observer.mock.calls.length, onObserverError.mock.calls.length]).toEqual([1, 1]);
  });
});

import { DomainError } from '@animal-store/domain';
import { expect, test } from 'vitest';
import { errorLike, failingStorage, metric, startApp } from '../../test/service.ts';

const REX = '{"name":"Rex","categoryId":7}';
/** A well-formed key that no storage holds: asking for it needs the storage. */
const ISSUED = 'anst_0000000000000000000000000000002jNnP2';

const outage = (reason: string) =>
  new DomainError('storage_unavailable', 'the storage is unavailable: try again', { cause: new Error(reason) });

function startOnFailingStorage() {
  const { storage, failure } = failingStorage();
  return { ...startApp({}, { storage }), failure };
}

test('responds with 503 to requests that need the storage while it is unavailable, and recovers', async () => {
  const app = startOnFailingStorage();
  const { add, call, failure, unexpectedErrors, logged } = app;
  await add(REX);
  expect((await call('GET', '/v1/pets', { key: ISSUED })).status).toBe(401);
  failure.with = outage('no route to the host');
  for (const response of [
    await call('GET', '/v1/pets', { key: ISSUED }),
    await call('GET', '/v1/pets'),
    await call('GET', '/v1/pets/1'),
    await add(REX),
    await call('GET', '/readyz', { key: null }),
    await call('GET', '/healthz', { key: null }),
  ]) {
    expect([response.status, response.json]).toEqual([503, errorLike('service_unavailable', 503, /try again$/)]);
    expect(response.headers['retry-after']).toBe('1');
  }
  expect(await metric(app, 'storage_up')).toBe(0);
  expect(await metric(app, 'storage_call_duration_seconds_count{operation="pets.list",outcome="unavailable"}')).toBe(1);
  const warning = { msg: 'requests are rejected with 503: the storage failed', reason: 'no route to the host' };
  expect(logged).toContainEqual({ level: 40, ...warning });
  const line = { status: 503, error: 'service_unavailable', reason: 'no route to the host' };
  expect(logged.filter(({ msg }) => msg === 'request').slice(2, 8)).toEqual(
    Array(6).fill(expect.objectContaining(line)),
  );
  // Requests that need no storage are served.
  expect((await call('GET', '/livez', { key: null })).status).toBe(200);
  expect((await call('GET', '/openapi.json', { key: null })).status).toBe(200);
  expect((await call('GET', '/v1/pets', { key: null })).status).toBe(401);
  expect((await call('GET', '/v1/pets', { key: 'nobody-has-this-key' })).status).toBe(401);
  for (const [response, status] of [
    [await call('GET', '/v1/pets?limit=0'), 400],
    [await add('{}'), 400],
    [await call('GET', '/v1/pets/x'), 404],
    [await call('DELETE', '/v1/pets'), 405],
  ] as const) {
    // Waiting does not end these errors.
    expect([response.status, response.headers['retry-after']]).toEqual([status, undefined]);
  }
  expect(unexpectedErrors).toEqual([]);

  delete failure.with;
  expect((await call('GET', '/readyz', { key: null })).status).toBe(200);
  expect((await call('GET', '/v1/pets')).json).toHaveLength(1);
});

test('responds to an unexpected error with 500 without its message, and reports it', async () => {
  const app = startOnFailingStorage();
  const { add, call, failure, unexpectedErrors } = app;
  failure.with = new TypeError('secret of the driver at /etc/passwd');
  for (const response of [await call('GET', '/v1/pets'), await call('GET', '/v1/pets/1'), await add(REX)]) {
    expect([response.status, response.json]).toEqual([500, errorLike('internal_error', 500)]);
    expect(response.text).not.toMatch(/secret|passwd|TypeError| at /);
  }
  expect(unexpectedErrors).toMatchObject(Array(3).fill({ type: 'TypeError', message: failure.with.message }));
  expect(await metric(app, 'storage_call_duration_seconds_count{operation="pets.add",outcome="error"}')).toBe(1);
});

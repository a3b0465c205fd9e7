import { hash, randomBytes } from 'node:crypto';
import { generateApiKey } from '@animal-store/domain/transport';
import { expect, test } from 'vitest';
import { KEY } from './service.ts';
import { startProcess } from './service-process.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** The id of KEY. */
const ID = hash('sha256', KEY).slice(0, 16);

test('logs each request as a line of JSON without secrets: probes and rejected keys at level debug', async () => {
  const running = startProcess({ API_KEYS: KEY, TRUST_PROXY: '1', LOG_LEVEL: 'debug' });
  const { add, call } = await running.listens();
  const name = (id: string, others = {}) => ({ headers: { 'x-request-id': id, ...others } });
  const traceparent = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
  const added = await add({ name: 'a secret näme', categoryId: 1 }, { 'x-request-id': 'one', traceparent });
  const forwarded = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7', traceparent: '00-xyz' };
  await call('GET', '/v1/pets/1?secret=in-the-query', name('two', forwarded));
  await call('GET', '/nothing/secret', {
    key: 'a-wrong-key-of-someone',
    ...name('three', { traceparent: `ff${traceparent.slice(2)}` }),
  });
  await call('GET', '/v1/pets', {
    key: 'a-wrong-key-of-someone',
    ...name('four', { traceparent: `${traceparent}-x` }),
  });
  const generated = generateApiKey(randomBytes);
  await call('GET', '/v1/pets', { key: generated, ...name('five') });
  // Not an address.
  await call('GET', '/livez', { key: null, ...name('six', { 'x-forwarded-for': 'unknown' }) });
  await call('POST', '/livez', { key: null, ...name('seven') });
  await running.says(/"requestId":"seven"/);
  const common = { level: 30, time: expect.closeTo(Date.now(), -5), msg: 'request', duration: expect.any(Number) };
  const anonymous = { ...common, bytes: expect.any(Number), client: '127.0.0.1' };
  const holder = { keyId: ID, holder: `configured-${ID}` };
  const bytes = Buffer.byteLength(added.text);
  // The visible prefix of a generated key is shown.
  expect(running.logged('request')).toEqual([
    {
      ...{ ...common, requestId: 'one', method: 'POST', route: '/v1/pets', status: 201, bytes, client: '127.0.0.1' },
      ...{ traceId: TRACE_ID, ...holder },
    },
    {
      ...{ ...common, requestId: 'two', method: 'GET', route: '/v1/pets/:petId', status: 200, bytes },
      ...{ client: '203.0.113.7', ...holder },
    },
    { ...anonymous, requestId: 'three', method: 'GET', route: 'unmatched', status: 404 },
    { ...anonymous, level: 20, requestId: 'four', method: 'GET', route: '/v1/pets', status: 401 },
    {
      ...anonymous,
      ...{ level: 20, requestId: 'five', method: 'GET', route: '/v1/pets' },
      status: 401,
      key: generated.slice(0, 9),
    },
    { ...anonymous, level: 20, requestId: 'six', method: 'GET', route: '/livez', status: 200 },
    { ...anonymous, requestId: 'seven', method: 'POST', route: 'unmatched', status: 405 },
  ]);
  for (const secret of [KEY, 'secret', 'a-wrong-key', generated]) expect(running.output.out).not.toContain(secret);
});

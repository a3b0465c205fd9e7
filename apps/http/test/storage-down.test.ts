import { createMemoryStorage } from '@animal-store/adapter-memory';
import { DomainError } from '@animal-store/domain';
import { mapPorts, type PetStorage } from '@animal-store/domain/ports';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfiguration } from '../src/configuration.ts';
import { createStorageCheck } from '../src/observability/readiness.ts';
import { errorLike, KEY, type Service, serve } from './service.ts';

/** A service whose storage can be made to fail. */
async function serviceOnFailingStorage(
  memory = createMemoryStorage(),
): Promise<Service & { failure: { with?: Error } }> {
  const failure: { with?: Error } = {};
  const failing =
    <Given extends unknown[], R>(method: (...given: Given) => Promise<R>) =>
    async (...given: Given): Promise<R> => {
      if (failure.with !== undefined) throw failure.with;
      return method(...given);
    };
  const storage: PetStorage = { ...memory, ...mapPorts(memory, failing), ready: failing(memory.ready) };
  const configuration = readConfiguration({ API_KEYS: KEY });
  return { ...(await serve({ configuration, storage })), failure };
}

const REX = '{"name":"Rex","categoryId":7}';
/** A well-formed key that no storage holds: asking for it needs the storage. */
const ISSUED = 'anst_0000000000000000000000000000002jNnP2';

test('responds with 503 to requests that need the storage while it is unavailable, and recovers', async () => {
  const { add, call, failure, unexpectedErrors } = await serviceOnFailingStorage();
  await add(REX);
  failure.with = new DomainError('storage_unavailable', 'the storage is unavailable: try again');
  for (const response of [
    await call('GET', '/v1/pets'),
    await call('GET', '/v1/pets/1'),
    await add(REX),
    await call('GET', '/readyz', { key: null }),
    await call('GET', '/healthz', { key: null }),
  ]) {
    expect([response.status, response.json]).toEqual([503, errorLike('service_unavailable', 503, /try again/)]);
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  }
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
  const { add, call, failure, unexpectedErrors } = await serviceOnFailingStorage();
  failure.with = new TypeError('secret of the driver at /etc/passwd');
  for (const response of [await call('GET', '/v1/pets'), await call('GET', '/v1/pets/1'), await add(REX)]) {
    expect([response.status, response.json]).toEqual([500, errorLike('internal_error', 500)]);
    expect(response.text).not.toMatch(/secret|passwd|TypeError| at /);
  }
  expect(unexpectedErrors).toEqual([failure.with, failure.with, failure.with]);
});

test('responds to an unknown key with 503 while the storage is unavailable, and with 401 afterwards', async () => {
  const { call, failure } = await serviceOnFailingStorage();
  expect((await call('GET', '/v1/pets', { key: ISSUED })).status).toBe(401);
  failure.with = new DomainError('storage_unavailable', 'the storage is unavailable: try again');
  expect((await call('GET', '/v1/pets', { key: ISSUED })).status).toBe(503);
});

test('shares one check of the storage among readiness probes at the same time', async () => {
  const ready = vi.fn(async () => {});
  const { check } = createStorageCheck({ location: 'memory', ready }, { info() {}, warn() {} });
  await Promise.all([check(), check()]);
  expect(ready).toHaveBeenCalledTimes(1);
  await check();
  expect(ready).toHaveBeenCalledTimes(2);
});

const BEGIN = 'the storage is unavailable: requests that need it are rejected with 503';
const END = 'the storage is available';
const outage = (reason: string) => new DomainError('storage_unavailable', 'try again', { cause: new Error(reason) });

test('logs an outage again if its reason changes, and not if only a number in it does', async () => {
  const reasons: unknown[] = [];
  const note = ({ reason }: { reason?: string }) => void reasons.push(reason);
  let failure = outage('shutting down');
  const ready = () => Promise.reject(failure);
  const { check } = createStorageCheck({ location: 'memory', ready }, { info: note, warn: note } as never);
  for (const reason of ['shutting down', 'no response within 700 ms', 'no response within 710 ms', 'shutting down']) {
    failure = outage(reason);
    await check().catch(() => {});
  }
  expect(reasons).toEqual(['shutting down', 'no response within 700 ms', 'shutting down']);
});

test('logs an outage and its end because of calls alone, without probes', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const messages: unknown[] = [];
  const note = (_: unknown, message?: string) => void messages.push(message);
  let failure: Error | null = outage('down');
  const ready = vi.fn(async () => {
    if (failure !== null) throw failure;
  });
  const { onCall } = createStorageCheck({ location: 'memory', ready }, { info: note, warn: note });
  onCall(null);
  onCall(new TypeError('a defect'));
  expect(ready).not.toHaveBeenCalled();
  for (let count = 0; count < 3; count += 1) onCall(failure);
  await vi.advanceTimersByTimeAsync(1_000);
  failure = null;
  for (let count = 0; count < 3; count += 1) onCall(null);
  await vi.advanceTimersByTimeAsync(0);
  onCall(null);
  expect([messages, ready.mock.calls.length]).toEqual([[BEGIN, END], 2]);
});

test('logs the begin and the end of an outage, once each', async () => {
  const messages: unknown[] = [];
  const note = (_: unknown, message?: string) => void messages.push(message);
  let failure: Error | null = null;
  const ready = async () => {
    if (failure !== null) throw failure;
  };
  const { check } = createStorageCheck({ location: 'memory', ready }, { info: note, warn: note });
  for (const is of [true, false, false, true, true]) {
    failure = is ? null : new DomainError('storage_unavailable', 'the storage is unavailable: try again');
    expect(await check().catch((error) => error)).toBe(failure ?? undefined);
  }
  expect(messages).toEqual([BEGIN, END]);
});

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DomainError } from '@animal-store/domain';
import { freshFolder } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics } from '../src/observability/metrics.ts';
import { createStorageCheck } from '../src/observability/readiness.ts';
import { errorLike, failingStorage, KEY, metric, startApp } from './service.ts';
import { startProcess } from './service-process.ts';

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
  expect(unexpectedErrors).toEqual([failure.with, failure.with, failure.with]);
  expect(await metric(app, 'storage_call_duration_seconds_count{operation="pets.add",outcome="error"}')).toBe(1);
});

test('starts on a file that another program has locked, and is ready when it is unlocked', async () => {
  const file = join(freshFolder(), 'animals.db');
  const other = new DatabaseSync(file);
  onTestFinished(() => {
    if (other.isOpen) other.close();
  });
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  const running = startProcess({ STORAGE: 'sqlite', SQLITE_FILE: file, API_KEYS: KEY });
  const { call } = await running.listens();
  expect((await call('GET', '/livez')).status).toBe(200);
  for (const path of ['/readyz', '/v1/pets']) expect((await call('GET', path)).status).toBe(503);
  await running.says(/the storage is unavailable/);
  other.close();
  await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
  await running.says(/the storage is available/);
  expect((await call('GET', '/v1/pets')).status).toBe(200);
  expect(running.logged(50)).toEqual([]);
});

describe('the check of the storage', () => {
  const BEGIN = 'the storage is unavailable: requests that need it are rejected with 503';
  const END = 'the storage is available';

  /** A check of a storage that fails with an error while there is one. */
  function createCheck() {
    const { storage, failure } = failingStorage();
    const ready = vi.fn(storage.ready);
    const logged: unknown[] = [];
    const note = ({ reason }: { reason?: string }, message: string) =>
      logged.push(message, ...(reason ? [reason] : []));
    const storageCheck = createStorageCheck({ location: 'memory', ready }, { info: note, warn: note } as never);
    return { storageCheck, storage, failure, ready, logged };
  }

  test('is shared by probes, and logs an outage, its end and another reason, but not another number in it', async () => {
    const { storageCheck, failure, ready, logged } = createCheck();
    for (const reason of ['', 'shutting down', 'after 700 ms', 'after 710 ms', 'shutting down', '', '']) {
      if (reason === '') delete failure.with;
      else failure.with = outage(reason);
      // Readiness probes at the same time share one check.
      const probes = [storageCheck.check(), storageCheck.check()].map((check) => check.catch((error) => error));
      expect(await Promise.all(probes)).toEqual([failure.with, failure.with]);
    }
    expect(ready).toHaveBeenCalledTimes(7);
    // A storage may be of a class.
    expect(ready.mock.contexts).toContainEqual({ location: 'memory', ready });
    expect(logged).toEqual([BEGIN, 'shutting down', BEGIN, 'after 700 ms', BEGIN, 'shutting down', END]);
  });

  test('runs because of calls alone, without probes, when an outage seems to begin or end', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { storageCheck, storage, failure, ready, logged } = createCheck();
    const zero = () => 0;
    const options = { version: { version: '1.0.0' }, inFlight: zero, droppedLines: zero, onError() {} };
    const metrics = createMetrics({ ...options, storageCheck });
    const { pets } = metrics.instrument(storage);
    const call = () => pets.find(1n).catch(() => {});
    await call();
    failure.with = new TypeError('a defect');
    await call();
    expect(ready).not.toHaveBeenCalled();
    failure.with = outage('down');
    for (let count = 0; count < 3; count += 1) await call();
    await vi.advanceTimersByTimeAsync(1_000);
    delete failure.with;
    for (let count = 0; count < 3; count += 1) await call();
    await vi.advanceTimersByTimeAsync(0);
    await call();
    expect([logged, ready.mock.calls.length]).toEqual([[BEGIN, 'down', END], 2]);
  });
});

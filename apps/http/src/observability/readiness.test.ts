import { DomainError } from '@animal-store/domain';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createObservedLog, failingStorage } from '../../test/service.ts';
import { createMetrics } from './metrics.ts';
import { createReadiness, createStorageCheck, type Phase } from './readiness.ts';

const outage = (reason: string) =>
  new DomainError('storage_unavailable', 'the storage is unavailable: try again', { cause: new Error(reason) });

describe('the check of the storage', () => {
  const BEGIN = 'the storage is unavailable: requests that need it are rejected with 503';
  const END = 'the storage is available';

  /** A check of a storage that fails with an error while there is one. */
  function createCheck() {
    const { storage, failure } = failingStorage();
    const ready = vi.fn(storage.ready);
    const { log, logged: lines } = createObservedLog();
    const messages = () => lines.flatMap(({ msg, reason }) => (reason === undefined ? [msg] : [msg, reason]));
    const findMissingKeys = vi.fn(async (): Promise<string | null> => null);
    const storageCheck = createStorageCheck({ location: 'memory', ready }, log, findMissingKeys);
    return { storageCheck, storage, failure, ready, findMissingKeys, messages };
  }

  test('is shared by probes, and logs an outage, its end and another reason, but not another number in it', async () => {
    const { storageCheck, failure, ready, findMissingKeys, messages } = createCheck();
    for (const reason of ['', 'shutting down', 'after 700 ms', 'after 710 ms', 'shutting down', '', '']) {
      if (reason === '') delete failure.with;
      else failure.with = outage(reason);
      // Readiness probes at the same time share one check.
      const probes = [storageCheck.check(), storageCheck.check()].map((check) => check.catch((error) => error));
      expect(await Promise.all(probes)).toEqual(Array(2).fill(failure.with ?? null));
    }
    expect(ready).toHaveBeenCalledTimes(7);
    // Keys may be revoked later: the first answer is for ever.
    expect(findMissingKeys).toHaveBeenCalledTimes(1);
    // A storage may be of a class.
    expect(ready.mock.contexts).toContainEqual({ location: 'memory', ready });
    expect(messages()).toEqual([BEGIN, 'shutting down', BEGIN, 'after 700 ms', BEGIN, 'shutting down', END]);
  });

  test('runs because of calls alone, without probes, when an outage seems to begin or end', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { storageCheck, storage, failure, ready, messages } = createCheck();
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
    expect([messages(), ready.mock.calls.length]).toEqual([[BEGIN, 'down', END], 2]);
  });

  test('asks for an API key once the storage is available, logs that none is valid, and heals when one is issued', async () => {
    const { storageCheck, failure, findMissingKeys, messages } = createCheck();
    const readiness = createReadiness(storageCheck, () => 'serving');
    failure.with = outage('down');
    findMissingKeys.mockResolvedValue('no key');
    await expect(readiness()).rejects.toBe(failure.with);
    expect(findMissingKeys).not.toHaveBeenCalled();
    delete failure.with;
    for (let count = 0; count < 2; count += 1) await expect(readiness()).rejects.toThrow('no key');
    findMissingKeys.mockRejectedValueOnce(outage('keys'));
    await expect(readiness()).rejects.toThrow(/unavailable/);
    findMissingKeys.mockResolvedValue(null);
    await readiness();
    expect(messages()).toEqual([BEGIN, 'down', END, 'no key', BEGIN, 'keys', END]);
  });
});

test.each<Phase>(['starting', 'stopping'])('a service that is %s is not ready', async (phase) => {
  let current: Phase = 'serving';
  const check = async () => {
    current = phase;
    return null;
  };
  await expect(createReadiness({ check }, () => current)()).rejects.toThrow(`the service is ${phase}`);
});

import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Exchange } from '../http/exchange.ts';
import type { HttpResponse } from '../http/response.ts';
import { createGuard } from './guard.ts';

const KEY = { id: '0123456789abcdef', holder: 'the zoo' };
const RESPONSE: HttpResponse = { status: 200, headers: {}, body: null };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(10_000);
});
afterEach(() => void vi.useRealTimers());

const sleep = (time: number) => new Promise<void>((resolve) => setTimeout(resolve, time));

/** Runs an operation whose authentication takes a time, and returns its outcome so far. */
function run({ slow, isBeingRead = false, takes }: { slow: number; isBeingRead?: boolean; takes: number }) {
  const guard = createGuard({
    authenticate: () => sleep(slow).then(() => KEY),
    rateLimit: null,
    shouldShed: () => false,
  });
  const rawHeaders = ['Authorization', 'Bearer the-key-of-the-tests'];
  const incoming = Object.assign(new EventEmitter(), { rawHeaders, isBeingRead });
  const request = { env: { incoming } } as unknown as Parameters<ReturnType<typeof guard>>[0];
  const exchange = { startedAt: performance.now(), headers: {} } as Exchange;
  const outcomes: unknown[] = [];
  void Promise.resolve(guard(() => sleep(takes).then(() => RESPONSE))(request, exchange)).then(
    (response) => outcomes.push(response),
    (error) => outcomes.push(error),
  );
  return { incoming, outcomes, pass: (time: number) => vi.advanceTimersByTimeAsync(time) };
}

const LATE = expect.objectContaining({ code: 'storage_unavailable' });

describe('an operation after a slow authentication', () => {
  test('fails when the time of the request is over', async () => {
    const { outcomes, pass } = run({ slow: 3_000, takes: 10_000 });
    await pass(4_499);
    expect(outcomes).toEqual([]);
    await pass(1);
    expect(outcomes).toEqual([LATE]);
  });

  test('ends in time otherwise', async () => {
    const { outcomes, pass } = run({ slow: 3_000, takes: 1_000 });
    await pass(4_000);
    expect(outcomes).toEqual([RESPONSE]);
  });

  test('has its time from the end of the body that it reads', async () => {
    const { incoming, outcomes, pass } = run({ slow: 3_000, isBeingRead: true, takes: 20_000 });
    await pass(9_000);
    expect(outcomes).toEqual([]);
    incoming.emit('close');
    await pass(1_499);
    expect(outcomes).toEqual([]);
    await pass(1);
    expect(outcomes).toEqual([LATE]);
  });

  test('may end before its body does', async () => {
    const { outcomes, pass } = run({ slow: 3_000, isBeingRead: true, takes: 1_000 });
    await pass(4_000);
    expect(outcomes).toEqual([RESPONSE]);
  });
});

test('an operation is rejected for overload before the storage is asked for the key', () => {
  const authenticate = vi.fn();
  const guard = createGuard({ authenticate, rateLimit: null, shouldShed: () => true });
  const request = { env: { incoming: { rawHeaders: ['Authorization', 'Bearer the-key-of-the-tests'] } } };
  const call = () =>
    guard(() => RESPONSE)(request as unknown as Parameters<ReturnType<typeof guard>>[0], {} as Exchange);
  expect(call).toThrow(expect.objectContaining({ code: 'service_unavailable', reason: 'overload' }));
  expect(authenticate).not.toHaveBeenCalled();
});

test.each([
  [249, 'its response', RESPONSE],
  [250, 'a timeout', LATE],
])('%d ms of authentication and an operation of 4,400 ms end in %s', async (slow, _, outcome) => {
  const { outcomes, pass } = run({ slow, takes: 4_400 });
  await pass(slow + 4_400);
  expect(outcomes).toEqual([outcome]);
});

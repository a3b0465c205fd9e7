import { DomainError } from '@animal-store/domain';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { monitorStorage } from './storage-monitor.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const MINUTE = 60_000;

const UNAVAILABLE = new DomainError('storage_unavailable', 'try again', { cause: new Error('connect ECONNREFUSED') });
const WRONG_PASSWORD = new DomainError('storage_unavailable', 'try again', {
  cause: new Error('Authentication failed'),
});
const MISCONFIGURED = 'the server rejects the password';

/** Monitors a storage whose checks fail with `state.failure`. */
function monitor(failure: Error | null, misconfigured: string | null = null) {
  const state = { failure, misconfigured };
  const logged: string[] = [];
  const log = (level: string) => (message: string, details?: object) =>
    void logged.push(`${level} ${message} ${JSON.stringify(details)}`);
  const fatal: string[] = [];
  const checks: boolean[] = [];
  let calls = 0;
  const { stop } = monitorStorage({
    storage: {
      async ready() {
        calls += 1;
        if (state.failure !== null) throw state.failure;
      },
    },
    names: { at: 'host:1' },
    messages: { unavailable: 'the storage is unavailable', misconfigured: 'nothing is read or written' },
    misconfiguration: (error) => (error === WRONG_PASSWORD ? MISCONFIGURED : null),
    findMisconfiguration: async () => state.misconfigured,
    onMisconfiguration(message) {
      stop();
      fatal.push(message);
    },
    onCheck: (available) => checks.push(available),
    log: { info: log('info'), warn: log('warn'), error: log('error') },
  });
  onTestFinished(stop);
  return {
    state,
    logged,
    fatal,
    checks,
    stop,
    calls: () => calls,
    pass: (time: number) => vi.advanceTimersByTimeAsync(time),
  };
}

const LOST = 'warn the storage is unavailable {"at":"host:1","reason":"connect ECONNREFUSED"}';
const BACK = 'info the storage is available {"at":"host:1"}';
const WRONG = `error nothing is read or written: ${MISCONFIGURED} {"at":"host:1"}`;

describe('monitorStorage', () => {
  test('logs nothing while the storage is available', async () => {
    const { logged, fatal, pass } = monitor(null);
    await pass(10 * MINUTE);
    expect([logged, fatal]).toEqual([[], []]);
  });

  test('logs an outage once, with its reason and no stack, and its end once', async () => {
    const { state, logged, fatal, checks, pass } = monitor(UNAVAILABLE);
    await pass(10 * MINUTE);
    expect(logged).toEqual([LOST]);
    expect(new Set(checks)).toEqual(new Set([false]));
    state.failure = null;
    await pass(3_000);
    expect(logged).toEqual([LOST, BACK]);
    expect(checks.at(-1)).toBe(true);
    state.failure = UNAVAILABLE;
    await pass(MINUTE);
    expect(logged).toEqual([LOST, BACK, LOST]);
    expect(fatal).toEqual([]);
  });

  test('reports a configuration error as fatal and ends, if the storage has never been available', async () => {
    const { state, logged, fatal, pass } = monitor(UNAVAILABLE);
    await pass(MINUTE);
    state.failure = WRONG_PASSWORD;
    await pass(MINUTE);
    expect(fatal).toEqual([MISCONFIGURED]);
    expect(logged).toEqual([LOST]);
  });

  test('logs a configuration error once a minute, if the storage has been available', async () => {
    const { state, logged, fatal, pass } = monitor(null);
    await pass(0);
    state.failure = WRONG_PASSWORD;
    await pass(MINUTE);
    expect(logged).toEqual([WRONG]);
    await pass(2 * MINUTE);
    expect(logged).toEqual([WRONG, WRONG, WRONG]);
    state.failure = null;
    await pass(3_000);
    expect(logged).toEqual([WRONG, WRONG, WRONG, BACK]);
    expect(fatal).toEqual([]);
  });

  test('logs a configuration error again at once if the storage was available meanwhile', async () => {
    const { state, logged, pass } = monitor(null);
    await pass(0);
    for (const failure of [WRONG_PASSWORD, null, WRONG_PASSWORD]) {
      state.failure = failure;
      await pass(16_000);
    }
    expect(logged).toEqual([WRONG, BACK, WRONG]);
  });

  test('looks for configuration errors in the stored data until the storage was available once', async () => {
    const wrong = monitor(null, 'there is no API key');
    await wrong.pass(MINUTE);
    expect([wrong.fatal, wrong.logged]).toEqual([['there is no API key'], []]);

    const right = monitor(null);
    await right.pass(0);
    right.state.misconfigured = 'there is no API key';
    await right.pass(MINUTE);
    expect(right.fatal).toEqual([]);
  });

  test.each([UNAVAILABLE, WRONG_PASSWORD, null])('logs and reports nothing once stopped (%s)', async (failure) => {
    const { logged, fatal, stop, calls, pass } = monitor(failure, 'there is no API key');
    stop();
    await pass(MINUTE);
    expect([logged, fatal, calls(), vi.getTimerCount()]).toEqual([[], [], 1, 0]);
  });

  test('checks nothing once stopped between two checks', async () => {
    const { stop, calls, pass } = monitor(UNAVAILABLE);
    await pass(0);
    stop();
    await pass(MINUTE);
    expect([calls(), vi.getTimerCount()]).toEqual([1, 0]);
  });
});

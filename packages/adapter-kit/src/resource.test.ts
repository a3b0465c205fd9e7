import { closed, StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createResource, type ResourceOptions } from './resource.ts';

const LOST = new Error('connection lost');
const never = () => new Promise<never>(() => {});

/** A resource whose connections are numbers, in the order in which they were opened. */
function resource(options: Partial<ResourceOptions<number>> = {}) {
  let opened = 0;
  const open = vi.fn(async () => ++opened);
  const close = vi.fn();
  const { call, close: end } = createResource({ open, close, isLost: (failure) => failure === LOST, ...options });
  onTestFinished(end);
  const use = () => call(async (connection) => connection);
  const lose = () => call(() => Promise.reject(LOST));
  return { call, close, end, lose, open, use };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('createResource', () => {
  test('opens once, with the first call', async () => {
    const { open, use } = resource();
    expect(open).not.toHaveBeenCalled();
    expect(await Promise.all([use(), use()])).toEqual([1, 1]);
    expect(await use()).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('opens again with the next call after an opening that failed', async () => {
    const { open, use } = resource();
    const refused = new TypeError('refused');
    open.mockRejectedValueOnce(refused);
    await expect(Promise.allSettled([use(), use()])).resolves.toMatchObject(
      Array(2).fill({ status: 'rejected', reason: { code: 'storage_unavailable', cause: refused } }),
    );
    expect(await use()).toBe(1);
    expect(open).toHaveBeenCalledTimes(2);
  });

  test('opens one new connection for a thousand calls that lost theirs', async () => {
    const { close, lose, open, use } = resource();
    await use();
    const lost = Array.from({ length: 1_000 }, lose);
    for (const call of lost) await expect(call).rejects.toMatchObject({ code: 'storage_unavailable', cause: LOST });
    expect(await Promise.all(Array.from({ length: 1_000 }, use))).toEqual(Array(1_000).fill(2));
    expect(open).toHaveBeenCalledTimes(2);
    expect(close.mock.calls).toEqual([[1]]);
  });

  test('keeps a new connection if a call on an earlier one fails late', async () => {
    const { call, lose, use } = resource();
    const { promise, reject } = Promise.withResolvers<never>();
    const late = call(() => promise);
    await expect(lose()).rejects.toThrow();
    expect(await use()).toBe(2);
    reject(LOST);
    await expect(late).rejects.toThrow();
    expect(await use()).toBe(2);
  });

  test('keeps the connection after any other failure', async () => {
    const { call, use } = resource();
    await expect(call(() => Promise.reject(new Error('locked')))).rejects.toMatchObject({
      cause: { message: 'locked' },
    });
    expect(await use()).toBe(1);
  });

  test.each([
    [undefined, 2_200],
    [100, 100],
  ])('rejects a call without a response after its time limit (%s)', async (timeout, ms) => {
    const { call, use } = resource({ ...(timeout && { timeout }), isLost: ({ name }) => name === 'TimeoutError' });
    const silent = call(never);
    await Promise.resolve();
    vi.advanceTimersByTime(ms - 1);
    expect(await use()).toBe(1);
    vi.advanceTimersByTime(1);
    await expect(silent).rejects.toMatchObject({ code: 'storage_unavailable', cause: { name: 'TimeoutError' } });
    expect(await use()).toBe(2);
  });

  test('discards an opening that takes too long, and closes what it opens', async () => {
    const { close, open, use } = resource();
    const { promise, resolve } = Promise.withResolvers<number>();
    open.mockReturnValueOnce(promise);
    const early = use();
    vi.advanceTimersByTime(2_199);
    const late = use();
    vi.advanceTimersByTime(1);
    await expect(early).rejects.toMatchObject({ code: 'storage_unavailable' });
    await expect(late).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await use()).toBe(1);
    resolve(7);
    await vi.waitFor(() => expect(close.mock.calls).toEqual([[7]]));
    expect(vi.getTimerCount()).toBe(0);
  });

  test('throws errors as the ports say', async () => {
    const defect = new RangeError('a violated constraint');
    const { call } = resource({
      toPortError: (failure) => (failure instanceof RangeError ? failure : unavailable(failure)),
    });
    const fail = (failure: unknown) => call(() => Promise.reject(failure));
    const misconfigured = new StorageMisconfigured('no database');
    await expect(fail(misconfigured)).rejects.toMatchObject({ code: 'storage_unavailable', cause: misconfigured });
    await expect(fail(defect)).rejects.toBe(defect);
    const own = unavailable();
    await expect(fail(own)).rejects.toBe(own);
  });

  test('reports no failure to open as a defect', async () => {
    const defect = new RangeError('no such option');
    const { open, use } = resource({ toPortError: (failure) => failure });
    open.mockRejectedValueOnce(defect);
    await expect(use()).rejects.toMatchObject({ code: 'storage_unavailable', cause: defect });
  });

  describe('after close', () => {
    test('rejects every call, and closes its connection once', async () => {
      const { close, end, open, use } = resource();
      await use();
      await Promise.all([end(), end()]);
      await expect(use()).rejects.toEqual(closed());
      expect(close.mock.calls).toEqual([[1]]);
      expect(open).toHaveBeenCalledTimes(1);
    });

    test('closes a connection that is being opened, and calls that wait for it do nothing', async () => {
      const { call, close, end } = resource();
      const work = vi.fn();
      const waiting = call(work);
      await Promise.all([end(), expect(waiting).rejects.toEqual(closed())]);
      expect(close.mock.calls).toEqual([[1]]);
      expect(work).not.toHaveBeenCalled();
    });

    test('resolves if closing fails, or takes longer than the time limit', async () => {
      for (const close of [never, () => Promise.reject(LOST)]) {
        const { end, use } = resource({ close });
        await use();
        const ended = end();
        await vi.advanceTimersByTimeAsync(2_200);
        await ended;
      }
    });
  });
});

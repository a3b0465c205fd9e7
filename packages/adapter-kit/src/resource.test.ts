import { closed, StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Limits } from './limits.ts';
import { type Call, createResource, type ResourceOptions } from './resource.ts';

const LOST = new Error('connection lost');
const never = () => new Promise<never>(() => {});

/** A resource whose connections are numbers, in the order in which they were opened. */
function resource(options: Partial<ResourceOptions<number>> = {}) {
  let opened = 0;
  const open = vi.fn(async () => ++opened);
  const close = vi.fn();
  const isLost = (failure: unknown) => failure === LOST || (failure as Error).name === 'TimeoutError';
  const { call, close: end } = createResource({ open, close, isLost, ...options });
  const use = () => call(async ({ connection }) => connection);
  const lose = () => call(() => Promise.reject(LOST));
  /** The next opening lasts until it is told to end. */
  function openSlowly() {
    const { promise, resolve } = Promise.withResolvers<number>();
    open.mockReturnValueOnce(promise);
    return { finish: () => resolve(++opened) };
  }
  return { call, close, end, lose, open, openSlowly, use };
}

/** Runs calls, one at each time in milliseconds, and returns how each of them ends. */
async function callsAt(times: readonly number[], call: () => Promise<unknown>) {
  const ends: Promise<unknown>[] = [];
  for (const [index, time] of times.entries()) {
    await vi.advanceTimersByTimeAsync(time - (times[index - 1] ?? 0));
    ends.push(call().catch(({ code, cause }) => `${code}: ${cause?.message}`));
  }
  return ends;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('createResource', () => {
  test('opens for 10 seconds, and never starts the work of a call that has waited for 2.2 seconds', async () => {
    const { call, close, open, openSlowly } = resource();
    const { finish } = openSlowly();
    expect(open).not.toHaveBeenCalled();
    const write = vi.fn(async (_: Call<number>) => 'written');
    const begin = performance.now();
    const ends = await callsAt([0, 5_000, 7_798, 9_998], () => call(write));
    await vi.advanceTimersByTimeAsync(1);
    finish();
    const timeout = 'storage_unavailable: no response within 2200 ms';
    expect(await Promise.all(ends)).toEqual([timeout, timeout, timeout, 'written']);
    expect(await call(write)).toBe('written');
    const deadlines = [12_198, 12_199].map((time) => begin + time);
    expect(write.mock.calls).toEqual(deadlines.map((deadline) => [{ connection: 1, deadline }]));
    expect(open).toHaveBeenCalledTimes(1);
    expect(close).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('never starts the work of a call whose opening has blocked the thread for its time', async () => {
    const { call, open, use } = resource();
    open.mockImplementationOnce(async () => {
      vi.advanceTimersByTime(2_200);
      return 7;
    });
    const write = vi.fn(async () => 'written');
    const cause = { message: 'the storage opened after more than 2200 ms' };
    await expect(call(write)).rejects.toMatchObject({ code: 'storage_unavailable', cause });
    expect(write).not.toHaveBeenCalled();
    expect(await use()).toBe(7);
  });

  test('opens again after 10 seconds, and closes what the first opening still opens', async () => {
    const { close, openSlowly, use } = resource();
    const { finish } = openSlowly();
    const [, late] = await callsAt([0, 9_999], use);
    await vi.advanceTimersByTimeAsync(1);
    expect(await late).toBe('storage_unavailable: no response within 10000 ms');
    expect(await use()).toBe(1);
    finish();
    await vi.advanceTimersByTimeAsync(0);
    expect(close.mock.calls).toEqual([[2]]);
    expect(await use()).toBe(1);
  });

  test('opens again with the next call after an opening that failed', async () => {
    const { open, use } = resource({ toPortError: (failure) => failure });
    const cause = new RangeError('no such option');
    open.mockImplementationOnce(() => {
      throw cause;
    });
    for (const end of await Promise.allSettled([use(), use()])) {
      expect(end).toMatchObject({ reason: { code: 'storage_unavailable', cause } });
    }
    expect(await use()).toBe(1);
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

  test('names the whole time of a call that has waited for the opening', async () => {
    const { call, openSlowly } = resource();
    const { finish } = openSlowly();
    const [silent] = await callsAt([0], () => call(never));
    await vi.advanceTimersByTimeAsync(2_100);
    finish();
    await vi.advanceTimersByTimeAsync(100);
    expect(await silent).toBe('storage_unavailable: no response within 2200 ms');
  });

  test('rejects a call without a response after 2.2 seconds', async () => {
    const { call, use } = resource();
    const [silent] = await callsAt([0], () => call(never));
    await vi.advanceTimersByTimeAsync(2_199);
    expect(await use()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await silent).toBe('storage_unavailable: no response within 2200 ms');
    expect(await use()).toBe(2);
  });

  test('keeps a new connection that a call could use only for the rest of its time', async () => {
    const { call, openSlowly, use } = resource();
    const { finish } = openSlowly();
    const [late] = await callsAt([0], () => call(never));
    await vi.advanceTimersByTimeAsync(2_100);
    finish();
    await vi.advanceTimersByTimeAsync(100);
    expect(await late).toMatch('storage_unavailable');
    expect(await use()).toBe(1);
  });

  test('throws errors as the ports say, and keeps the connection', async () => {
    const locked = new Error('locked');
    const toPortError = (failure: unknown) => (failure === locked ? unavailable(failure) : failure);
    const { call, use } = resource({ toPortError, isLost: () => false });
    const fail = (failure: unknown) => call(() => Promise.reject(failure));
    const timeout = new DOMException('no response', 'TimeoutError');
    for (const cause of [new StorageMisconfigured('no database'), timeout, locked]) {
      await expect(fail(cause)).rejects.toMatchObject({ code: 'storage_unavailable', cause });
    }
    for (const failure of [new RangeError('a defect'), unavailable()])
      await expect(fail(failure)).rejects.toBe(failure);
    expect(await use()).toBe(1);
  });

  describe('a call that has ended', () => {
    /** Begins a call that lasts until it is told to end. */
    async function begin({ call }: ReturnType<typeof resource>, end: Promise<unknown>): Promise<Limits> {
      const calls: Limits[] = [];
      const work = (begun: Call<number>) => {
        calls.push(begun);
        return end;
      };
      call(work).catch(() => {});
      await vi.advanceTimersByTimeAsync(0);
      expect(calls[0]?.hasEnded).toBe(false);
      return calls[0] as Limits;
    }

    test('knows it at its deadline, without a timer of its own', async () => {
      const call = await begin(resource(), never());
      expect(vi.getTimerCount()).toBe(1);
      await vi.advanceTimersByTimeAsync(2_199);
      expect(call.hasEnded).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(call.hasEnded).toBe(true);
    });

    test.each([
      ['a result', () => 1],
      ['a failure', () => Promise.reject(LOST)],
    ])('knows it with %s, so that nothing goes on that it has begun', async (_, end) => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const call = await begin(resource(), promise);
      resolve(end());
      await vi.advanceTimersByTimeAsync(0);
      expect(call.hasEnded).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    });

    test('knows it when the resource is closed, before its connection is', async () => {
      let atClose: boolean | undefined;
      const used = resource({
        close: () => {
          atClose = call.hasEnded;
        },
      });
      const call = await begin(used, never());
      await used.end();
      expect(atClose).toBe(true);
    });
  });

  describe('an opening', () => {
    /** Begins an opening, and returns its limits. */
    async function opening(connection: Promise<number>) {
      const opened = resource();
      opened.open.mockReturnValueOnce(connection);
      opened.use().catch(() => {});
      await vi.advanceTimersByTimeAsync(0);
      const [[limits]] = opened.open.mock.calls as unknown as [[Limits]];
      return { ...opened, limits };
    }

    test('has ended after 4 seconds, its deadline', async () => {
      const now = performance.now();
      const { limits } = await opening(never());
      expect(limits.deadline).toBe(now + 4_000);
      await vi.advanceTimersByTimeAsync(3_999);
      expect(limits.hasEnded).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(limits.hasEnded).toBe(true);
    });

    test('has ended with its failure, and when the resource is closed meanwhile', async () => {
      expect((await opening(Promise.reject(LOST))).limits.hasEnded).toBe(true);
      const { end, limits } = await opening(never());
      end();
      expect(limits.hasEnded).toBe(true);
    });

    test('has not ended once it is open, because its connection may use its limits', async () => {
      const { end, limits } = await opening(Promise.resolve(1));
      await vi.advanceTimersByTimeAsync(4_000);
      await end();
      expect(limits.hasEnded).toBe(false);
    });
  });

  describe('after close', () => {
    test('rejects every call, also in flight, and closes its connection once, if it was opened', async () => {
      const { call, close, end, open, use } = resource();
      const ended = Promise.withResolvers<void>();
      const [first, ...inFlight] = [ended.promise, never(), never(), never()].map((work) => call(() => work));
      ended.resolve();
      await Promise.all([first, use()]);
      await Promise.all([end(), end()]);
      await Promise.all([...inFlight, use()].map((rejected) => expect(rejected).rejects.toEqual(closed())));
      expect(vi.getTimerCount()).toBe(0);
      expect(close.mock.calls).toEqual([[1]]);
      expect(open).toHaveBeenCalledTimes(1);
      const unused = resource();
      await unused.end();
      expect(unused.close).not.toHaveBeenCalled();
    });

    test.each([
      [1_000, closed()],
      [5_000, unavailable()],
    ])('closes a connection whose opening ends %s ms later, and runs no call', async (ms, error) => {
      const { call, close, end, openSlowly } = resource();
      const { finish } = openSlowly();
      const work = vi.fn();
      const waiting = call(work).catch(({ message }) => message);
      const ended = end();
      await vi.advanceTimersByTimeAsync(ms);
      finish();
      await ended;
      expect(await waiting).toBe(error.message);
      expect(close.mock.calls).toEqual([[1]]);
      expect(work).not.toHaveBeenCalled();
    });

    test('resolves each time after the time limit if closing takes longer', async () => {
      const { end, use } = resource({ close: never });
      await use();
      const isClosed = vi.fn();
      for (const ended of [end(), end()]) ended.then(isClosed);
      await vi.advanceTimersByTimeAsync(2_199);
      expect(isClosed).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(isClosed).toHaveBeenCalledTimes(2);
    });
  });
});

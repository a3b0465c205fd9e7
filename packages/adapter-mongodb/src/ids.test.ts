import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createIds } from './ids.ts';

/** Ids from a counter, as the database keeps it. */
function counter() {
  const state = { last: 0n, reserved: [] as number[] };
  const reserve = vi.fn(async (count: number) => {
    state.reserved.push(count);
    state.last += BigInt(count);
    return state.last;
  });
  return Object.assign(state, createIds(reserve), { reserve });
}

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => BigInt(first + index));

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('ids ascend without a gap, in the order of the calls, and are reserved by a few writes', async () => {
  const { take, reserved } = counter();
  const taken = await Promise.all(idsFrom(1, 3_000).map(() => take(1)));
  expect(taken.flat()).toEqual(idsFrom(1, 3_000));
  expect(reserved).toEqual([1, 8, 64, 512, 1_000, 1_000, 1_000]);
});

test('a call may take more ids than are reserved ahead', async () => {
  const { take } = counter();
  expect(await take(2_500)).toEqual(idsFrom(1, 2_500));
  expect(await take(3)).toEqual(idsFrom(2_501, 3));
});

test('ids that were reserved a second ago are not used, and a call after it reserves its own only', async () => {
  const { take, reserved } = counter();
  for (let count = 0; count < 3; count += 1) await take(1);
  vi.advanceTimersByTime(1_000);
  expect(await take(2)).toEqual([10n, 11n]);
  expect(reserved).toEqual([1, 8, 2]);
});

test('ids that were discarded are not used', async () => {
  const state = counter();
  await state.take(1);
  await state.take(1);
  state.last = 100n;
  await state.discard();
  expect(await state.take(1)).toEqual([101n]);
});

test('a reservation that fails rejects its call, and no later one', async () => {
  const { take, reserve } = counter();
  reserve.mockRejectedValueOnce(new Error('no primary'));
  const calls = await Promise.allSettled([take(1), take(1)]);
  expect(calls).toMatchObject([{ reason: { message: 'no primary' } }, { value: [1n] }]);
});

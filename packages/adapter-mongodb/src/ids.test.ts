import { BUDGET } from '@animal-store/adapter-kit';
import type { ClientSession, Db } from 'mongodb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createIds } from './ids.ts';

const SESSION = {} as ClientSession;
const limitsOf = (timeout: number) => ({ deadline: performance.now() + timeout, hasEnded: false });

/** Ids from a counter, as the database keeps it. */
function counter() {
  const state = { last: 0n, reserved: [] as number[] };
  const findOneAndUpdate = vi.fn(async (_: object, { $inc }: { $inc: { last: bigint } }) => {
    state.reserved.push(Number($inc.last));
    state.last += $inc.last;
    return { last: state.last };
  });
  async function updateOne(_: object, { $max }: { $max: { last: bigint } }) {
    state.last = $max.last;
  }
  const ids = createIds({ collection: () => ({ findOneAndUpdate, updateOne }) } as unknown as Db);
  const take = (count: number, timeout = BUDGET.call) => ids.take(count, SESSION, limitsOf(timeout));
  const raiseTo = (id: bigint) => ids.raiseTo(id, SESSION, limitsOf(BUDGET.call));
  return Object.assign(state, { take, raiseTo, findOneAndUpdate });
}

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => BigInt(first + index));

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('ids ascend without a gap, in the order of the calls, and are reserved by a few writes', async () => {
  const { take, reserved } = counter();
  expect(await Promise.all(idsFrom(1, 3_000).map(() => take(1)))).toEqual(idsFrom(1, 3_000));
  expect(reserved).toEqual([1, 8, 64, 512, 1_000, 1_000, 1_000]);
});

test('a call takes ids that follow each other, and may take more than are reserved ahead', async () => {
  const { take, reserved } = counter();
  expect([await take(2_500), await take(600), await take(401)]).toEqual([1n, 2_501n, 3_501n]);
  expect(reserved).toEqual([2_500, 1_000, 1_000]);
});

test('ids that were reserved a second ago are not used, and a call after it reserves its own only', async () => {
  const { take, reserved } = counter();
  for (let count = 0; count < 3; count += 1) await take(1);
  vi.advanceTimersByTime(1_000);
  expect(await take(2)).toBe(10n);
  expect(reserved).toEqual([1, 8, 2]);
});

test('ids that were reserved before the counter was raised are not used, except by a call that waits for them', async () => {
  const { take, raiseTo, findOneAndUpdate } = counter();
  await take(1);
  const response = Promise.withResolvers<{ last: bigint }>();
  findOneAndUpdate.mockReturnValueOnce(response.promise);
  const waiting = take(1);
  await raiseTo(100n);
  response.resolve({ last: 9n });
  expect([await waiting, await take(1)]).toEqual([2n, 101n]);
});

test('a reservation that fails rejects its call, and no later one, which uses no ids that were reserved before', async () => {
  const { take, findOneAndUpdate } = counter();
  await Promise.all([take(1), take(1)]);
  findOneAndUpdate.mockRejectedValueOnce(new Error('no primary'));
  const calls = await Promise.allSettled([take(8), take(1)]);
  expect(calls).toMatchObject([{ reason: { message: 'no primary' } }, { value: 10n }]);
});

test('a call that has waited beyond its deadline for the reservation of another begins none', async () => {
  const { take, findOneAndUpdate } = counter();
  findOneAndUpdate.mockImplementationOnce(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    throw new Error('operation exceeded time limit');
  });
  const calls = Promise.allSettled([take(1), take(1, 1_000), take(1, 1_499), take(1)]);
  await vi.advanceTimersByTimeAsync(1_500);
  const [failed, ...waited] = await calls;
  expect(failed).toMatchObject({ reason: { message: 'operation exceeded time limit' } });
  const late = { reason: { code: 'storage_unavailable', cause: { message: 'the storage could not begin in time' } } };
  expect(waited).toMatchObject([late, late, { value: 1n }]);
  expect(findOneAndUpdate).toHaveBeenCalledTimes(2);
});

test('a reservation without a response delays no call for longer than its own', async () => {
  const { take, findOneAndUpdate } = counter();
  const response = Promise.withResolvers<{ last: bigint }>();
  findOneAndUpdate.mockReturnValueOnce(response.promise);
  const silent = take(1).catch(({ name }) => name);
  const next = take(1, 10_000);
  await vi.advanceTimersByTimeAsync(BUDGET.call);
  expect([await silent, await next]).toEqual(['TimeoutError', 1n]);
  // Its ids are not used: they are below those that were taken meanwhile.
  response.resolve({ last: -7n });
  expect(await take(1)).toBe(2n);
});

import { describe, expect, test } from 'vitest';
import { BLOCK_MAX_SIZE, BLOCK_TTL, createIdBlocks } from './id-blocks.ts';

/** A counter as the database keeps it, and a clock. */
function counter() {
  const reserved: number[] = [];
  const state = { last: 0n, now: 0, reserved };
  const ids = createIdBlocks({
    clock: () => state.now,
    reserve: async (count) => {
      if (count < 1) throw new Error('nothing was reserved');
      reserved.push(count);
      state.last += BigInt(count);
      return state.last;
    },
  });
  return Object.assign(state, { ids });
}

const takeAll = async (ids: { take(): Promise<bigint> }, count: number) => {
  const taken: bigint[] = [];
  for (let index = 0; index < count; index += 1) taken.push(await ids.take());
  return taken;
};

describe('blocks of ids', () => {
  test('assign ascending ids without a gap while nobody else reserves and no time passes', async () => {
    const { ids } = counter();
    expect(await takeAll(ids, 3_000)).toEqual(Array.from({ length: 3_000 }, (_, index) => BigInt(index + 1)));
  });

  test('a block grows with the traffic up to its largest size', async () => {
    const { ids, reserved } = counter();
    await takeAll(ids, 5_000);
    expect(reserved).toEqual([1, 8, 64, 512, ...Array(5).fill(BLOCK_MAX_SIZE)]);
  });

  test('an expired block is not used up, and the next one is as large as its used part', async () => {
    const state = counter();
    await takeAll(state.ids, 12);
    expect(state.last).toBe(73n);
    state.now = BLOCK_TTL;
    expect(await state.ids.take()).toBe(74n);
    expect(state.reserved).toEqual([1, 8, 64, 3]);
  });

  test('a block is used until just before it expires', async () => {
    const state = counter();
    await takeAll(state.ids, 2);
    state.now = BLOCK_TTL - 1;
    expect(await state.ids.take()).toBe(3n);
  });

  test('calls at the same time share reservations and get different ids', async () => {
    const { ids, reserved } = counter();
    const taken = await Promise.all(Array.from({ length: 500 }, () => ids.take()));
    expect(new Set(taken).size).toBe(500);
    expect(reserved).toEqual([1, 8, 64, 512]);
  });

  test('a block that is discarded unused is followed by one that can be used', async () => {
    const { ids } = counter();
    const taken = ids.take();
    ids.discard();
    ids.discard();
    expect(await taken).toBeGreaterThan(0n);
    const waiting = ids.take();
    await Promise.resolve().then(ids.discard);
    expect(await waiting).toBeGreaterThan(await taken);
  });

  test('a failed reservation rejects the calls that waited for it, and no others', async () => {
    let fail = true;
    const ids = createIdBlocks({
      clock: () => 0,
      reserve: async (count) => {
        if (fail) throw new Error('down');
        return BigInt(count);
      },
    });
    const waiting = [ids.take(), ids.take()];
    for (const id of waiting) await expect(id).rejects.toThrow('down');
    fail = false;
    expect(await ids.take()).toBe(1n);
  });

  test('discarded ids are not handed out', async () => {
    const { ids } = counter();
    await takeAll(ids, 2);
    ids.discard();
    expect(await ids.take()).toBe(10n);
  });
});

import { describe, expect, test } from 'vitest';
import { BLOCK_MAX_SIZE, BLOCK_TTL, createIdBlocks, type IdBlocks } from './id-blocks.ts';

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

/** Takes ids one by one, as creations that wait for one another do. */
async function takeAll(ids: IdBlocks, count: number): Promise<bigint[]> {
  const taken: bigint[] = [];
  for (let index = 0; index < count; index += 1) taken.push(...(await ids.take(1)));
  return taken;
}

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => BigInt(first + index));

// tools/explorer shows that ids are unique and ascend, and that discarded and expired ones are never handed out.
describe('blocks of ids', () => {
  test('assign ascending ids without a gap while no other process reserves and no time passes', async () => {
    const { ids } = counter();
    expect(await takeAll(ids, 3_000)).toEqual(idsFrom(1, 3_000));
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
    expect(await state.ids.take(1)).toEqual([74n]);
    expect(state.reserved).toEqual([1, 8, 64, 3]);
  });

  test('a block is used until just before it expires', async () => {
    const state = counter();
    await takeAll(state.ids, 2);
    state.now = BLOCK_TTL - 1;
    expect(await state.ids.take(1)).toEqual([3n]);
  });

  test('a discard ends the block that is reserved, and one that is being reserved', async () => {
    const { ids } = counter();
    expect(await takeAll(ids, 2)).toEqual([1n, 2n]);
    ids.discard();
    const taken = ids.take(1);
    ids.discard();
    expect(await taken).toEqual([18n]);
  });

  test('calls at the same time take ids in their order, each of them all at once', async () => {
    const { ids, reserved } = counter();
    const taken = await Promise.all([3, 500, 1, 700, 2_000, 1].map((count) => ids.take(count)));
    expect(taken.map(({ length }) => length)).toEqual([3, 500, 1, 700, 2_000, 1]);
    expect(taken.flat()).toEqual(idsFrom(1, 3_205));
    expect(reserved).toEqual([3, 500, 1_000, 1_701, 1_000]);
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
    const waiting = [ids.take(1), ids.take(1)];
    for (const id of waiting) await expect(id).rejects.toThrow('down');
    fail = false;
    expect(await ids.take(1)).toEqual([1n]);
  });
});

import type { MonotonicClock } from '@animal-store/domain';

/** How many ids one reservation takes at most. */
export const BLOCK_MAX_SIZE = 1_000;

/** How long the ids of a block are handed out, in milliseconds. */
export const BLOCK_MAX_AGE = 1_000;

const GROWTH = 8;

/** Ids from blocks, so that a counter is written once a block. */
export interface IdBlocks {
  /** An id greater than every one before it. */
  take(): Promise<bigint>;
  /** Hands out nothing more of the present block. */
  discard(): void;
}

/**
 * A block is as large as the traffic is: it grows while blocks are used up before their time, and shrinks to what was
 * used of the last one where they aren't. What is left of a block when its time is over is never used, so that no
 * process hands out ids far below those that others have reached.
 *
 * @param reserve Reserves that many ids that nobody else gets, above all reserved before. @returns The last of them.
 */
export function createIdBlocks({
  reserve,
  clock,
}: {
  reserve: (count: number) => Promise<bigint>;
  clock: MonotonicClock;
}): IdBlocks {
  let next = 1n;
  let last = 0n;
  let first = 1n;
  let endsAt = Number.NEGATIVE_INFINITY;
  let reserving: Promise<void> | null = null;

  async function refill(): Promise<void> {
    // A block that was discarded may have been of no use.
    const used = Math.max(Number(next - first), 1);
    const size = clock() < endsAt ? Math.min(used * GROWTH, BLOCK_MAX_SIZE) : used;
    const reserved = await reserve(size);
    last = reserved;
    first = reserved - BigInt(size) + 1n;
    next = first;
    endsAt = clock() + BLOCK_MAX_AGE;
  }

  return {
    async take() {
      while (next > last || clock() >= endsAt) {
        reserving ??= refill().finally(() => {
          reserving = null;
        });
        await reserving;
      }
      const id = next;
      next += 1n;
      return id;
    },

    discard() {
      last = next - 1n;
    },
  };
}

import type { MonotonicClock } from '@animal-store/domain';

/** How many ids one reservation takes at most. */
export const BLOCK_MAX_SIZE = 1_000;

/** How long the ids of a block are handed out, in milliseconds. */
export const BLOCK_TTL = 1_000;

const GROWTH = 8;

/** Ids from blocks, so that the counter is written once for each block. */
export interface IdBlocks {
  /** An id greater than every one before it. */
  take(): Promise<bigint>;
  /** Hands out nothing more of the present block. */
  discard(): void;
}

/**
 * The size of a block follows the traffic: it grows while blocks are used up before they expire; otherwise the next block
 * is as large as the used part of the last one. What is left of a block when it expires is never used, so that no process
 * hands out ids far below those that others have reached.
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
  let expiresAt = Number.NEGATIVE_INFINITY;
  let reserving: Promise<void> | null = null;

  async function refill(): Promise<void> {
    // A block may have been discarded unused.
    const used = Math.max(Number(next - first), 1);
    const size = clock() < expiresAt ? Math.min(used * GROWTH, BLOCK_MAX_SIZE) : used;
    last = await reserve(size);
    first = last - BigInt(size) + 1n;
    next = first;
    expiresAt = clock() + BLOCK_TTL;
  }

  return {
    async take() {
      while (next > last || clock() >= expiresAt) {
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

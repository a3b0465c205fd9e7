import type { MonotonicClock } from '@animal-store/domain';

/** How many ids one reservation takes at most, unless one call takes more. */
export const BLOCK_MAX_SIZE = 1_000;

/** How long the ids of a block are handed out, in milliseconds. */
export const BLOCK_TTL = 1_000;

const GROWTH = 8;

/** Ids from blocks, so that the counter is written once for each block. */
export interface IdBlocks {
  /** Takes ids in ascending order, all of them above those of every earlier call. */
  take(count: number): Promise<bigint[]>;
  /** Hands out nothing more of the blocks that are reserved, or are being reserved. */
  discard(): void;
}

interface Call {
  readonly count: number;
  readonly ids: bigint[];
  resolve(ids: bigint[]): void;
  reject(reason: unknown): void;
}

/**
 * The size of a block follows the traffic: it grows while blocks are used up before they expire; otherwise the next block
 * is as large as the used part of the last one. What is left of a block when it expires is never used, so that no process
 * hands out ids far below those that others have reached.
 *
 * @param reserve Reserves this many ids for the caller alone, above all reserved before. Returns the last of them.
 */
export function createIdBlocks({
  reserve,
  clock,
}: {
  reserve: (count: number) => Promise<bigint>;
  clock: MonotonicClock;
}): IdBlocks {
  const waiting: Call[] = [];
  let next = 1n;
  let last = 0n;
  let first = 1n;
  let expiresAt = Number.NEGATIVE_INFINITY;
  let discards = 0;

  async function refill(missing: number): Promise<void> {
    // A block may have been discarded unused.
    const used = Math.max(Number(next - first), 1);
    const size = Math.max(clock() < expiresAt ? Math.min(used * GROWTH, BLOCK_MAX_SIZE) : used, missing);
    const discardsBefore = discards;
    const reserved = await reserve(size);
    if (discards !== discardsBefore) return;
    last = reserved;
    first = last - BigInt(size) + 1n;
    next = first;
    expiresAt = clock() + BLOCK_TTL;
  }

  /** Serves one call after the other: no later call takes ids while an earlier one waits for more. */
  async function serve(): Promise<void> {
    for (let call = waiting[0]; call !== undefined; call = waiting[0]) {
      const { count, ids, resolve } = call;
      while (ids.length < count) {
        if (next > last || clock() >= expiresAt) await refill(count - ids.length);
        for (; ids.length < count && next <= last; next += 1n) ids.push(next);
      }
      waiting.shift();
      resolve(ids);
    }
  }

  return {
    take(count) {
      return new Promise((resolve, reject) => {
        if (waiting.push({ count, ids: [], resolve, reject }) > 1) return;
        serve().catch((reason) => {
          for (const call of waiting.splice(0)) call.reject(reason);
        });
      });
    },

    discard() {
      last = next - 1n;
      discards += 1;
    },
  };
}

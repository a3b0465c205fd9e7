/** How many creations are in flight at most: some batches of a storage, so that it always has the next one. */
const MAX_LIMIT = 4_000;

const MIN_LIMIT = 50;

/** How much each completed creation raises the limit. */
const GROWTH = 0.1;

/** How long one overload can last at least, in milliseconds: its errors lower the limit once. */
const OVERLOAD = 1_000;

/** How many calls may be in flight: fewer after each overload, and more again while all goes well. */
export interface Pace {
  limit(): number;
  onDone(): void;
  onOverload(): void;
}

/** Additive increase, multiplicative decrease, as TCP paces itself (RFC 5681, 3.1). */
export function createPace(): Pace {
  let limit = MAX_LIMIT;
  let loweredAt = Number.NEGATIVE_INFINITY;
  return {
    limit: () => limit,
    onDone() {
      limit = Math.min(limit + GROWTH, MAX_LIMIT);
    },
    onOverload() {
      const now = performance.now();
      if (now - loweredAt < OVERLOAD) return;
      loweredAt = now;
      limit = Math.max(limit / 2, MIN_LIMIT);
    },
  };
}

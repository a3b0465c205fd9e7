/** How many ids one reservation takes at most, unless one call takes more. */
const MAX_SIZE = 1_000;

/** Reservations expire after 1 s, so that no process assigns ids far below those that others have reached. */
const TTL = 1_000;

/**
 * Ids that are reserved ahead: each reservation is larger than the last one as long as the ids of that are used in time.
 *
 * @param reserve Reserves this many ids for the caller alone, above all reserved before. Returns the last of them.
 */
export function createIds(reserve: (count: number) => Promise<bigint>) {
  let next = 1n;
  let last = 0n;
  let size = 0;
  let expiresAt = 0;
  let queue: Promise<unknown> = Promise.resolve();

  async function take(count: number): Promise<bigint[]> {
    if (performance.now() >= expiresAt) [size, last] = [0, next - 1n];
    const ids: bigint[] = [];
    for (;;) {
      for (; ids.length < count && next <= last; next += 1n) ids.push(next);
      if (ids.length === count) return ids;
      size = Math.max(count - ids.length, Math.min(8 * size, MAX_SIZE));
      last = await reserve(size);
      next = last - BigInt(size) + 1n;
      expiresAt = performance.now() + TTL;
    }
  }

  /** One call after the other: no later call takes ids while an earlier one waits for more. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = queue.then(work);
    queue = result.catch(() => {});
    return result;
  }

  return {
    /** Takes ids in ascending order, all of them above those of every earlier call. */
    take: (count: number) => inTurn(() => take(count)),
    /** The ids that are reserved are not used. */
    discard: () =>
      inTurn(async () => {
        last = next - 1n;
      }),
  };
}

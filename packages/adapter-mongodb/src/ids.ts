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
  /** The reserved ids that were not taken: none if `next` is above `last`. */
  let next = 1n;
  let last = 0n;
  /** How many ids the latest reservation has taken; 0 if it has expired. */
  let size = 0;
  let expiresAt = 0;
  let queue: Promise<unknown> = Promise.resolve();

  async function take(count: number): Promise<bigint[]> {
    if (performance.now() >= expiresAt) {
      discard();
      size = 0;
    }
    const ids: bigint[] = [];
    for (; ids.length < count; next += 1n) {
      if (next > last) await reserveMore(count - ids.length);
      ids.push(next);
    }
    return ids;
  }

  async function reserveMore(missing: number): Promise<void> {
    size = Math.max(missing, Math.min(8 * size, MAX_SIZE));
    last = await reserve(size);
    next = last - BigInt(size) + 1n;
    expiresAt = performance.now() + TTL;
  }

  function discard(): void {
    last = next - 1n;
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
    discard: () => inTurn(async () => discard()),
  };
}

import { createBatches, type Limits } from '@animal-store/adapter-kit';
import type { Query } from './documents.ts';
import type { ReadBarrier } from './election/read-barrier.ts';
import { TIME_LIMITS } from './limits.ts';

/** How many documents one query looks up at most: up to 2.5 megabytes, a fraction of what one response may hold. */
const MAX_VALUES = 1_000;

/**
 * Combines the calls that find a document by a member, whose values are all different. They fail with the driver's errors.
 *
 * @param read Reads the value of the member, and what the document stands for: an Error fails its own calls alone.
 */
export function createFind<Value, Found>(
  member: string,
  read: (document: Buffer) => readonly [Value, Found | Error],
  query: Query,
  barrier: ReadBarrier,
) {
  async function findAll(values: readonly Value[], limits: Limits): Promise<(Found | Error | null)[]> {
    const [only, ...more] = new Set(values);
    // The server has a shorter way to one.
    const filter = { [member]: more.length === 0 ? only : { $in: [only, ...more] } };
    const found = new Map((await query(1 + more.length, { filter }, limits)).map(read));
    return values.map((value) => found.get(value) ?? null);
  }

  return createBatches<Value, Found | null>((values, limits) => barrier(() => findAll(values, limits)), {
    maxItems: MAX_VALUES,
    maxWait: TIME_LIMITS.batch,
  });
}

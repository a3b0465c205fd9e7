import { LIMITS } from '@animal-store/domain';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';

const FIRST_STEP = 1024n;

/**
 * An id that no pet exceeds which exists when this is called: the highest one, or that of a pet created meanwhile. It takes
 * at most twice as many queries as the id has binary digits, and eleven for the first 1,024 ids.
 */
export async function highestId(catalogue: AwaitableCatalogue): Promise<bigint> {
  const next = async (after: bigint) => (await catalogue.listPets({ after, limit: LIMITS.page.min })).pets[0]?.id;

  // No pet is above `high`.
  let low = 0n;
  let high = FIRST_STEP;
  for (let step = FIRST_STEP; ; step *= 2n) {
    const found = await next(high);
    if (found === undefined) break;
    low = found;
    high = low + step;
  }
  while (low < high) {
    const middle = (low + high) / 2n;
    const found = await next(middle);
    if (found === undefined) high = middle;
    else low = found;
  }
  return high;
}

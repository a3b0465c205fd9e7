import { LIMITS } from '@animal-store/domain';
import { createAwaitableCatalogue } from '@animal-store/domain/transport';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { highestId } from './export-pets.ts';

/**
 * A catalogue of pets with these ids.
 *
 * @param onList Called before each page.
 */
function catalogueOf(ids: bigint[], onList: () => void = () => {}) {
  return createAwaitableCatalogue({
    add: () => null,
    find: () => null,
    list({ after, limit }) {
      onList();
      const sorted = [...ids].sort((a, b) => (a < b ? -1 : 1));
      return sorted
        .filter((id) => id > after)
        .map((id) => ({ id, name: 'Rex', categoryId: 1n }))
        .slice(0, limit);
    },
  });
}

/** The highest of some ids, 0 if there is none. */
const highest = (given: readonly bigint[]): bigint => [...given].sort((a, b) => (a < b ? -1 : 1)).at(-1) ?? 0n;

const ids = fc.uniqueArray(fc.oneof(fc.bigInt(1n, 5_000n), fc.bigInt(1n, LIMITS.id.maxAssigned)));

test('finds the highest id with few queries for any distribution of ids', async () => {
  await fc.assert(
    fc.asyncProperty(ids, async (given) => {
      let queries = 0;
      const found = await highestId(catalogueOf(given, () => (queries += 1)));
      expect(found).toBe(highest(given));
      expect(queries).toBeLessThanOrEqual(53);
    }),
  );
});

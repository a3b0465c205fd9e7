import type { PetSelection } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { readPages } from './pages.ts';

/** With a filter that the domain does not have yet. */
type Selection = PetSelection & { readonly categoryId: bigint | undefined };

const statuses = [undefined, 'available', 'sold'] as const;
const pets = Array.from({ length: 90 }, (_, index) => ({
  ...{ id: BigInt(index + 1), name: 'Rex', categoryId: BigInt(index % 3), status: statuses[index % 2] },
}));

/** What a storage of these pets selects. */
function select(selection: PetSelection) {
  const { status, categoryId, after, limit } = selection as Selection;
  return pets
    .filter((pet) => status === undefined || pet.status === status)
    .filter((pet) => categoryId === undefined || pet.categoryId === categoryId)
    .filter(({ id }) => id > after)
    .slice(0, limit);
}

/** Callers in JavaScript may leave a filter out. */
const selection = fc.record(
  {
    status: fc.constantFrom(...statuses),
    categoryId: fc.constantFrom(undefined, 0n, 1n),
    after: fc.bigInt({ min: 0n, max: 3n }),
    limit: fc.integer({ min: 1, max: 8 }),
  },
  { requiredKeys: ['after', 'limit'] },
) as fc.Arbitrary<Selection>;

test('readPages gives each call its page, and reads each list once, to the end of its longest page', async () => {
  const check = fc.asyncProperty(fc.array(selection, { minLength: 1, maxLength: 30 }), async (selections) => {
    const read = vi.fn(async (longest: readonly PetSelection[]) => longest.map(select));
    expect(await readPages(selections, read)).toEqual(selections.map(select));
    const [[longest] = [[]]] = read.mock.calls;
    const lists = (longest as Selection[]).map(({ status, categoryId, after }) => `${status} ${categoryId} ${after}`);
    expect(new Set(lists).size).toBe(lists.length);
    for (const { limit } of longest)
      expect(limit).toBeLessThanOrEqual(Math.max(...selections.map((given) => given.limit)));
    expect(read).toHaveBeenCalledTimes(1);
  });
  await fc.assert(check);
});

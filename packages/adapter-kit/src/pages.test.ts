import type { PetStatus } from '@animal-store/domain';
import type { PetSelection } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { readPages } from './pages.ts';

const pets = Array.from({ length: 30 }, (_, index) => ({ id: BigInt(index + 1), name: 'Rex', categoryId: 7n }));

/** What a storage of these pets, of which all have each status, selects. */
const select = ({ after, limit }: PetSelection) => pets.filter(({ id }) => id > after).slice(0, limit);

const selection: fc.Arbitrary<PetSelection> = fc.record({
  status: fc.constantFrom<(PetStatus | undefined)[]>(undefined, 'available', 'sold'),
  after: fc.bigInt({ min: 0n, max: 3n }),
  limit: fc.integer({ min: 1, max: 8 }),
});

test('readPages gives each call its page, and reads each list once, to the end of its longest page', async () => {
  const check = fc.asyncProperty(fc.array(selection, { minLength: 1, maxLength: 30 }), async (selections) => {
    const read = vi.fn(async (longest: readonly PetSelection[]) => longest.map(select));
    expect(await readPages(selections, read)).toEqual(selections.map(select));
    const [[longest] = [[]]] = read.mock.calls;
    const lists = longest.map(({ status, after }) => `${status} ${after}`);
    expect(new Set(lists).size).toBe(lists.length);
    for (const { limit } of longest)
      expect(limit).toBeLessThanOrEqual(Math.max(...selections.map((given) => given.limit)));
    expect(read).toHaveBeenCalledTimes(1);
  });
  await fc.assert(check);
});

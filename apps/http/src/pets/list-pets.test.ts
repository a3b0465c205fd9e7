import type { Pet } from '@animal-store/domain';
import { expect, test } from 'vitest';
import { listPets } from './list-pets.ts';

const [rex, max] = [
  { id: 1n, name: 'Rex', categoryId: 7n },
  { id: 2n, name: 'Max', categoryId: 7n },
];

/** Lists these pets, which the storage returns each time. */
function list(pets: readonly Pet[]) {
  const catalogue = { listPets: () => ({ pets, next: null }) };
  const { handle } = listPets({ catalogue, basePath: '/v1' } as unknown as Parameters<typeof listPets>[0]);
  return () => handle({ req: { url: 'http://x/v1/pets' } } as Parameters<typeof handle>[0], 'the zoo');
}

test('returns the response to a page of frozen pets again', () => {
  const again = list([Object.freeze({ ...rex }), Object.freeze({ ...max })]);
  expect(again()).toBe(again());
});

test('returns a page anew if one of its pets is not frozen, because it may have changed', () => {
  const other = { ...max };
  const again = list([Object.freeze({ ...rex }), other]);
  again();
  other.name = 'Moritz';
  expect(again()).toMatchObject({ body: expect.stringContaining('Moritz') });
});

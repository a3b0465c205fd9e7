import type { Pet } from '@animal-store/domain';
import { expect, test } from 'vitest';
import { cachedPetJson, petJson } from './pet-json.ts';

test('writes each pet as itself, however many there are and whether they are frozen', () => {
  const write = cachedPetJson();
  const pets = Array.from({ length: 50_000 }, (_, index): Pet => {
    const pet = { id: BigInt(index % 40_000) + 2n ** 52n, name: `Rex ${index}`, categoryId: 7n };
    return index % 5 === 0 ? pet : Object.freeze(pet);
  });
  for (const pet of [...pets, ...pets]) expect(write(pet)).toBe(petJson(pet));
});

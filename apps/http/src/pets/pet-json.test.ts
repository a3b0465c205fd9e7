import type { Pet } from '@animal-store/domain';
import { expect, test } from 'vitest';
import { createPetsJson, petJson } from './pet-json.ts';

test('writes each pet as itself, whatever their number, frozen or not', () => {
  const petsJson = createPetsJson();
  const pets = Array.from({ length: 50_000 }, (_, index): Pet => {
    const pet = { id: BigInt(index % 40_000) + 2n ** 52n, name: `Rex ${index}`, categoryId: 7n };
    return index % 5 === 0 ? pet : Object.freeze(pet);
  });
  const expected = `[${pets.map(petJson).join(',')}]`;
  expect(petsJson(pets)).toBe(expected);
  expect(petsJson(pets)).toBe(expected);
  expect(petsJson([])).toBe('[]');
});

import type { Pet } from '@animal-store/domain';
import { describe, expect, test } from 'vitest';
import { cachedPetJson, petJson } from './pet-json.ts';

const pet = (id: bigint, name = 'Rex'): Pet => Object.freeze({ id, name, categoryId: 7n });

describe(cachedPetJson, () => {
  test('writes what petJson writes, however many pets there are', () => {
    const cached = cachedPetJson();
    const pets = Array.from({ length: 50_000 }, (_, index) => pet(BigInt(index + 1), `Rex ${index}`));
    for (const each of [...pets, ...pets]) expect(cached(each)).toBe(petJson(each));
  });

  test('writes a pet with the id of another one, and one with the largest id', () => {
    const cached = cachedPetJson();
    for (const each of [pet(1n), pet(1n, 'Bello'), pet(2n ** 53n - 1n)]) expect(cached(each)).toBe(petJson(each));
  });
});

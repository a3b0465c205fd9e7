import type { Pet } from '@animal-store/domain';
import { parse } from '@animal-store/exact-json';
import { expect, test } from 'vitest';
import { toJson } from './json.ts';

test('writes every member of a pet', () => {
  const pet: Required<Pet> = { id: 1n, name: '"Rex" 🐕\\\u0001\u2028', categoryId: -(2n ** 63n), status: 'sold' };
  expect(parse(JSON.stringify(toJson(pet)))).toEqual(pet);
});

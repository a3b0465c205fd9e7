import type { Pet } from '@animal-store/domain';
import { expect, test, vi } from 'vitest';
import { createPetsJson, petJson } from './pet-json.ts';

test('writes 64-bit integers digit for digit, and a status only if there is one', () => {
  const rex = { id: 2n ** 63n - 1n, name: 'Rex "🐕"', categoryId: -(2n ** 63n) };
  const json = '{"id":9223372036854775807,"name":"Rex \\"🐕\\"","categoryId":-9223372036854775808';
  expect(petJson(rex)).toBe(`${json}}`);
  expect(petJson({ ...rex, status: 'sold' })).toBe(`${json},"status":"sold"}`);
});

test('writes a frozen pet once, and another one each time, because it may have changed', () => {
  const petsJson = createPetsJson();
  const [frozen, other] = [
    Object.freeze({ id: 1n, name: 'Rex', categoryId: 7n }),
    { id: 2n, name: 'Max', categoryId: 7n },
  ];
  const stringify = vi.spyOn(JSON, 'stringify');
  petsJson([frozen, frozen]);
  const calls = stringify.mock.calls.length;
  stringify.mockRestore();
  expect(calls).toBe(1);
  petsJson([other]);
  other.name = 'Moritz';
  expect(petsJson([other])).toBe('[{"id":2,"name":"Moritz","categoryId":7}]');
});

test('does not keep the texts of all pets', () => {
  const petsJson = createPetsJson();
  const pets = Array.from({ length: 40_001 }, (_, index) =>
    Object.freeze({ id: BigInt(index), name: 'Rex', categoryId: 7n }),
  );
  petsJson(pets);
  const stringify = vi.spyOn(JSON, 'stringify');
  petsJson(pets.slice(0, 1));
  const calls = stringify.mock.calls.length;
  stringify.mockRestore();
  expect(calls).toBe(1);
});

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

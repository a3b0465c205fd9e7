import { describe, expect, test } from 'vitest';
import { createPetDecoder } from './pet-decoder.ts';

const decode = (stored: string) => ({ id: 1n, name: stored, categoryId: 1n });

describe('createPetDecoder', () => {
  test('returns the same frozen pet for the same text, another one for another', () => {
    const decodePet = createPetDecoder(decode, 1_000_000);
    const pet = decodePet('Rex');
    expect(pet).toEqual(decode('Rex'));
    expect(decodePet(['R', 'e', 'x'].join(''))).toBe(pet);
    expect(Object.isFrozen(pet)).toBe(true);
    expect(decodePet('Max')).toEqual(decode('Max'));
  });

  test('evicts pets that are not used when it is full', () => {
    // Some ten pets.
    const decodePet = createPetDecoder(decode, 2_000);
    const [used, unused] = [decodePet('used'), decodePet('unused')];
    for (let number = 0; number < 100; number += 1) {
      decodePet(String(number));
      expect(decodePet('used')).toBe(used);
    }
    expect(decodePet('unused')).not.toBe(unused);
    expect(decodePet('unused')).toEqual(unused);
  });

  test('counts the size of a text as a key and in its pet', () => {
    const decodePet = createPetDecoder(decode, 20_000);
    const longTexts = Array.from({ length: 10 }, (_, number) => String(number).padEnd(1_000));
    const [first] = longTexts.map(decodePet);
    expect(decodePet(longTexts[0] as string)).not.toBe(first);
  });
});

import { ALL_PETS, fingerprint, MAX_FINGERPRINT_BYTES } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { FULL_SELECTIONS, LONGEST_PET } from '../src/samples.ts';

test.each(Object.keys(ALL_PETS))(
  'the contract asks for a value of the filter %s that one of two pets has',
  (filter) => {
    expect(FULL_SELECTIONS.map((selection) => Reflect.get(selection, filter))).toContainEqual(expect.anything());
  },
);

test('the contract creates a pet with the longest fingerprint', () => {
  expect(Buffer.byteLength(fingerprint(LONGEST_PET))).toBe(MAX_FINGERPRINT_BYTES);
});

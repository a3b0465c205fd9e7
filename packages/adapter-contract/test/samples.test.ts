import { fingerprint, MAX_FINGERPRINT_BYTES } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { LONGEST_PET } from '../src/samples.ts';

test('the contract creates a pet with the longest fingerprint', () => {
  expect(Buffer.byteLength(fingerprint(LONGEST_PET))).toBe(MAX_FINGERPRINT_BYTES);
});

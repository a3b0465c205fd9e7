import { expect, test } from 'vitest';
import { isPetStatus, PET_STATUSES } from './pet-status.ts';

test.each(PET_STATUSES)('accepts the status %s', (status) => {
  expect(isPetStatus(status)).toBe(true);
});

test.each(['Sold', 'sold ', '', 'toString', null, undefined, 1, ['sold']])('rejects the status %j', (status) => {
  expect(isPetStatus(status)).toBe(false);
});

import { expect, test } from 'vitest';
import { TIME_LIMITS } from './time-limits.ts';

test('the time limit of a call is below the 5 seconds of a request', () => {
  expect(TIME_LIMITS.call).toBeLessThanOrEqual(4_500);
});

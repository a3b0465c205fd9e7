import { expect, test } from 'vitest';
import { TIME_LIMITS } from './time-limits.ts';

test('the time limit of a call leaves a request of 5 seconds some time of its own', () => {
  expect(TIME_LIMITS.call).toBeLessThanOrEqual(4_500);
});

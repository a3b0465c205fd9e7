import { expect, test } from 'vitest';
import { medianRatio, quantile } from './statistics.ts';

test('quantile returns the value below which the given share of values lies', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([0.99, 0.5, 0].map((share) => quantile(values, share))).toEqual([100, 51, 1]);
  expect(quantile([], 0.5)).toBeNaN();
});

test('medianRatio divides values of the same round', () => {
  // The machine was half as fast in the second round.
  expect(medianRatio([20, 10, 22], [10, 5, 10])).toBe(2);
});

import { describe, expect, test } from 'vitest';
import { median, quantile, ratioOf } from './statistics.ts';

describe(quantile, () => {
  test('returns the value below which the given share of values lies', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(quantile(values, 0.99)).toBe(100);
    expect(quantile(values, 0.5)).toBe(51);
    expect(quantile(values, 0)).toBe(1);
  });

  test('returns NaN if there are no values', () => {
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe(median, () => {
  test('compares numbers, not their digits', () => {
    expect(median([9, 10, 100])).toBe(10);
  });
});

describe(ratioOf, () => {
  test('divides values of the same round', () => {
    // The machine was half as fast in the second round.
    expect(ratioOf([20, 10, 22], [10, 5, 10])).toEqual({ median: 2, lower: 2, upper: 2.2 });
  });
});

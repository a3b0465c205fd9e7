import { describe, expect, test } from 'vitest';
import { createCache } from './cache.ts';

describe(createCache, () => {
  test('returns the last value of a key', () => {
    const cache = createCache<string, number>(10, () => 1);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('a', 3);
    expect(['a', 'b', 'c'].map(cache.get)).toEqual([3, 2, undefined]);
  });

  test('keeps entries in use, and drops the others', () => {
    const cache = createCache<string, number>(10, () => 1);
    cache.set('used', 1);
    cache.set('unused', 1);
    for (let count = 0; count < 100; count += 1) {
      cache.set(`other ${count}`, 1);
      expect(cache.get('used')).toBe(1);
    }
    expect(cache.get('unused')).toBeUndefined();
  });

  test('holds two generations of its size', () => {
    const filled = (entries: number) => {
      const cache = createCache<number, number>(10, () => 1);
      for (let key = 0; key < entries; key += 1) cache.set(key, key);
      return cache;
    };
    expect(filled(20).get(0)).toBe(0);
    expect(filled(21).get(0)).toBeUndefined();
  });

  test('holds at most two full generations', () => {
    const cache = createCache<number, string>(1_000, (_, text) => text.length);
    for (let key = 0; key < 1_000; key += 1) cache.set(key, 'x'.repeat(100));
    const held = Array.from({ length: 1_000 }, (_, key) => key).filter((key) => cache.get(key) !== undefined);
    expect(held.length).toBeLessThanOrEqual(20);
    expect(held.length).toBeGreaterThanOrEqual(10);
  });
});

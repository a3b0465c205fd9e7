import { describe, expect, test } from 'vitest';
import { connectionLimit } from './open-files.ts';

describe('connectionLimit', () => {
  test.each([
    [10_000, null, 10_000],
    [10_000, 1_048_576, 10_000],
    [10_000, 10_200, 10_000],
    [10_000, 10_199, 9_999],
    [10_000, 1_024, 824],
    [10_000, 256, 128],
    [100, 256, 100],
  ])('limits %d connections with %s open files to %d', (maxConnections, openFiles, limit) => {
    expect(connectionLimit(maxConnections, openFiles)).toBe(limit);
  });
});

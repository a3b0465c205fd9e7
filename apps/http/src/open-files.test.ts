import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { connectionLimit, openFilesLimit } from './open-files.ts';

describe('openFilesLimit', () => {
  test.runIf(existsSync('/proc/self/limits'))('is the one of a shell', () => {
    expect(openFilesLimit()).toBe(Number(execFileSync('/bin/sh', ['-c', 'ulimit -n'])));
  });

  test.each(['/nothing/here', import.meta.filename])('is unknown from %s', (limits) => {
    expect(openFilesLimit(limits)).toBeNull();
  });
});

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

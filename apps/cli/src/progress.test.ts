import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createProgress } from './progress.ts';

/** What is drawn when so many bytes are done at so many milliseconds. */
function drawn(
  total: number | null,
  steps: readonly (readonly [bytes: number, time: number])[],
  terminal: object = {},
) {
  let now = 0;
  const output = Object.assign(new PassThrough(), { isTTY: true, ...terminal });
  const draw = createProgress(output, () => now, total);
  for (const [bytes, time] of steps) {
    now = time;
    draw(bytes);
  }
  return String(output.read() ?? '')
    .split('\r\u001b[K')
    .slice(1);
}

describe('progress', () => {
  test('has a bar, the rate and the time that is left if the total is known', () => {
    expect(
      drawn(10e6, [
        [2.5e6, 1_000],
        [10e6, 4_000],
      ]),
    ).toEqual([
      '[#####               ] 2.5 MB of 10.0 MB, 2.5 MB/s, 3 s left',
      '[####################] 10.0 MB of 10.0 MB, 2.5 MB/s, 0 s left',
    ]);
  });

  test('has the number and the rate if the total is not known', () => {
    expect(drawn(null, [[3e6, 2_000]])).toEqual(['3.0 MB, 1.5 MB/s']);
  });

  test.each([10e6 - 1, 0])('has the number and the rate if more is done than the total, %d', (total) => {
    expect(drawn(total, [[10e6, 1_000]])).toEqual(['10.0 MB, 10.0 MB/s']);
  });

  test.each([
    [{}, 79],
    [{ columns: 80 }, 79],
    [{ columns: 40 }, 39],
    [{ columns: 0 }, 79],
  ])('is one line on a terminal %o', (terminal, width) => {
    const [line = ''] = drawn(10e20, [[9e20, 4_000]], terminal);
    expect(line).toHaveLength(width);
    expect(line).toMatch(/^\[##/);
  });

  test('is drawn ten times a second at most, and at the end', () => {
    expect(
      drawn(4e6, [
        [1e6, 10],
        [2e6, 100],
        [3e6, 150],
        [4e6, 160],
      ]),
    ).toHaveLength(2);
  });

  test('is not drawn if the output is no terminal', () => {
    expect(drawn(1e6, [[1e6, 1_000]], { isTTY: false })).toEqual([]);
  });
});

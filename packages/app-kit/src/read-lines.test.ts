import { expect, test } from 'vitest';
import { readLines } from './read-lines.ts';

test.each([1, 2, 3, 7, 100])('readLines reads the same lines from chunks of %i bytes and empty ones', async (size) => {
  const [long, last] = ['abcdefghijklmnopqrst', 'a last line'];
  const bytes = Buffer.from(['Rex\r', '', '\u2028Max', '1234567890', long, last].join('\n'));
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += size) yield* [bytes.subarray(start, start + size), Buffer.of()];
  }
  const lines: string[] = [];
  for await (const line of readLines(chunks(), 10)) lines.push(String(line));
  expect(lines.toSpliced(4)).toEqual(['Rex\r', '', '\u2028Max', '1234567890']);
  // Longer than allowed, and not much longer than it takes to see that.
  expect(lines.slice(4).map((line) => line.length > 10 && line.length <= 11 + size)).toEqual([true, true]);
  expect([long.startsWith(lines[4] ?? ''), last.startsWith(lines[5] ?? '')]).toEqual([true, true]);
});

import { once } from 'node:events';
import { expect, test } from 'vitest';
import { delayEnd } from './delayed-end.ts';

test('an input does not wait longer than the limit for calls in flight', async () => {
  const input = delayEnd(new Set([new Promise(() => {})]), 100).resume();
  const started = performance.now();
  input.end();
  await once(input, 'end');
  expect(performance.now() - started).toBeGreaterThan(90);
});

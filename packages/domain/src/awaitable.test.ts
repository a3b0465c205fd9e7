import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type Awaitable, andThen } from './awaitable.ts';

const twice = (value: number) => value * 2;

test('what is there already is used at once', () => {
  expect(andThen(21, twice)).toBe(42);
});

test.each([
  ['a promise', Promise.resolve(21)],
  ['a promise of another realm', runInNewContext('Promise.resolve(21)')],
  // biome-ignore lint/suspicious/noThenProperty: that is what it is about.
  ['what is like a promise', { then: (fulfilled: (value: number) => unknown) => Promise.resolve(fulfilled(21)) }],
] as [string, Awaitable<number>][])('%s is waited for', async (_what, value) => {
  expect(await andThen(value, twice)).toBe(42);
});

test.each([null, undefined, 0, '', {}, []])('%j is no promise', (value) => {
  expect(andThen(value as unknown, () => 'used')).toBe('used');
});

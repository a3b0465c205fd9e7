import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { type Awaitable, andThen } from './awaitable.ts';

const twice = (value: number) => value * 2;

describe('andThen', () => {
  test('calls next with a value at once', () => {
    expect(andThen(21, twice)).toBe(42);
  });

  test.each([
    ['a promise', Promise.resolve(21)],
    ['a promise of another realm', runInNewContext('Promise.resolve(21)')],
    // biome-ignore lint/suspicious/noThenProperty: a thenable is the subject of this test.
    ['a thenable', { then: (fulfilled: (value: number) => unknown) => Promise.resolve(fulfilled(21)) }],
  ] as [string, Awaitable<number>][])('waits for %s', async (_what, value) => {
    expect(await andThen(value, twice)).toBe(42);
  });

  test.each([null, undefined, 0, '', {}, []])('does not wait for %j', (value) => {
    expect(andThen(value as unknown, () => 'used')).toBe('used');
  });
});

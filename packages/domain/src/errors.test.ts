import { describe, expect, test } from 'vitest';
import { closed, DomainError, reasonOf, StorageMisconfigured, unavailable } from './errors.ts';

type ErrorClass = { new (...given: unknown[]): Error; is(error: unknown): boolean };

test.each([
  ['DomainError', DomainError as ErrorClass, new StorageMisconfigured('no')],
  ['StorageMisconfigured', StorageMisconfigured as ErrorClass, new DomainError('storage_unavailable', 'no')],
] as const)(
  '%s.is recognizes an error of another copy of the package, and no other error',
  async (name, Own, other) => {
    // As an application with two versions of the package has.
    const copy = (await import(/* @vite-ignore */ `./errors.ts?another-copy-of-${name}`)) as Record<string, ErrorClass>;
    const Other = copy[name] as ErrorClass;
    const error = new Other('invalid', 'name is required');
    expect(error).not.toBeInstanceOf(Own);
    expect([Own.is(error), Other.is(new Own('invalid', 'no'))]).toEqual([true, true]);
    // The name of the symbol is the same in every version of the package.
    expect(Symbol.for(`@animal-store/domain/${name}`) in error).toBe(true);
    const similar = [Object.assign(new Error('no'), { name, code: 'invalid' }), { code: 'invalid' }, 'invalid'];
    for (const wrong of [other, ...similar, null, undefined]) expect(Own.is(wrong)).toBe(false);
  },
);

test('DomainError keeps its message and its violations in JSON', () => {
  const violations = [{ field: 'name', message: 'name is required' }];
  expect(JSON.parse(JSON.stringify(new DomainError('invalid', 'name is required', { violations })))).toEqual({
    name: 'DomainError',
    code: 'invalid',
    message: 'name is required',
    violations,
  });
  expect(new DomainError('pet_not_found', 'no pet has the id 7').violations).toEqual([]);
});

describe('storage_unavailable', () => {
  const cause = new Error('connection refused');

  test.each([
    [unavailable(cause), 'the storage is unavailable or does not respond in time: try again', 'connection refused'],
    [unavailable(), 'the storage is unavailable or does not respond in time: try again'],
    [closed(), 'the storage is closed'],
  ])(
    'has a message for callers, and the words of the storage as its reason: %o',
    (error, message, reason = message) => {
      expect(error).toMatchObject({ code: 'storage_unavailable', message });
      expect(reasonOf(error)).toBe(reason);
    },
  );

  test('is the only error whose cause is its reason', () => {
    expect(reasonOf(new TypeError('a defect', { cause }))).toBe('a defect');
    expect(reasonOf(new DomainError('storage_unavailable', 'try again', { cause: 'a text' }))).toBe('try again');
  });
});

import { describe, expect, test } from 'vitest';
import { closed, DomainError, reasonOf, StorageMisconfigured, unavailable } from './errors.ts';

/** A module of another copy of this package, as an application with two versions of it has. */
const anotherCopyOf = (module: string) => import(/* @vite-ignore */ `./${module}?another-copy`);

describe('DomainError.is', () => {
  test('recognizes an error of another copy of the package', async () => {
    const { DomainError: Other } = (await anotherCopyOf('errors.ts')) as { DomainError: typeof DomainError };
    const error = new Other('pet_not_found', 'no pet has the id 7');
    expect(error instanceof DomainError).toBe(false);
    expect(DomainError.is(error)).toBe(true);
    expect(Other.is(new DomainError('invalid', 'name is required'))).toBe(true);
    // The name of the symbol is the same in every version of the package.
    expect(Symbol.for('@animal-store/domain/DomainError') in error).toBe(true);
  });

  test.each([
    new Error('pet_not_found'),
    Object.assign(new Error('no'), { name: 'DomainError', code: 'pet_not_found' }),
    new StorageMisconfigured('no'),
    { code: 'pet_not_found' },
    'pet_not_found',
    null,
    undefined,
  ])('does not recognize %o', (error) => {
    expect(DomainError.is(error)).toBe(false);
  });
});

describe('DomainError', () => {
  test('keeps its message and its violations in JSON', () => {
    const violations = [{ field: 'name', message: 'name is required' }];
    expect(JSON.parse(JSON.stringify(new DomainError('invalid', 'name is required', { violations })))).toEqual({
      name: 'DomainError',
      code: 'invalid',
      message: 'name is required',
      violations,
    });
    expect(new DomainError('pet_not_found', 'no pet has the id 7').violations).toEqual([]);
  });
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

describe('StorageMisconfigured.is', () => {
  test('recognizes an error of another copy of the package, and no other error', async () => {
    const { StorageMisconfigured: Other } = (await anotherCopyOf('errors.ts')) as {
      StorageMisconfigured: typeof StorageMisconfigured;
    };
    const error = new Other('the URL must name a database');
    expect(error instanceof StorageMisconfigured).toBe(false);
    expect(StorageMisconfigured.is(error)).toBe(true);
    expect(Symbol.for('@animal-store/domain/StorageMisconfigured') in error).toBe(true);
    for (const other of [new Error('no'), new DomainError('storage_unavailable', 'no'), null]) {
      expect(StorageMisconfigured.is(other)).toBe(false);
    }
  });
});

import { expect, test } from 'vitest';
import { checkFormat } from './storage.ts';

test('checkFormat accepts the own format only, and says which version works with another one', () => {
  checkFormat('the file', 2, 2);
  for (const [found, version] of [
    [1, 'an older'],
    [3, 'a newer'],
  ] as const) {
    expect(() => checkFormat('the file', found, 2)).toThrow(
      expect.objectContaining({
        name: 'StorageMisconfigured',
        message: `the file has format ${found}, and this version of Animal Store works with format 2: start ${version} version`,
      }),
    );
  }
});

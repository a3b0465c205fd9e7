import { expect, test } from 'vitest';
import { checkFormat } from './check-format.ts';

test('checkFormat accepts the own format, the next one and earlier ones, and rejects every later one', () => {
  for (const found of [1, 2, 3]) checkFormat('the file', found, 2);
  expect(() => checkFormat('the file', 4, 2)).toThrow(
    expect.objectContaining({
      name: 'StorageMisconfigured',
      message:
        'the file has format 4, and this version of Animal Store works with formats up to 3: start a newer version',
    }),
  );
});

import { expect, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';

test.each([['a.db'], [undefined], [{ file: new URL('file:///a.db') }]])(
  'createSqliteStorage rejects %j by a TypeError that names the file',
  async (options) => {
    const error = new TypeError('options must be an object whose file is a string');
    await expect(createSqliteStorage(options as never)).rejects.toThrow(error);
  },
);

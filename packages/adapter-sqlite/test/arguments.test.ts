import { expect, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';

const TEXT = 'options must be an object whose file is a string';

test.each<[unknown, string]>([
  ['a.db', TEXT],
  [undefined, TEXT],
  [{ file: new URL('file:///a.db') }, TEXT],
  [{ file: '' }, 'file must be a path, was empty'],
  [{ file: 'a.db', create: 'no' }, 'create must be true or false'],
  [{ file: 'a.db', creat: false }, 'options must have no creat, only file, create'],
])('createSqliteStorage rejects %j by a TypeError that names the option', async (options, message) => {
  await expect(createSqliteStorage(options as never)).rejects.toThrow(new TypeError(message));
});

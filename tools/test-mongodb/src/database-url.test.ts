import { expect, test } from 'vitest';
import { addressOf, databaseOf, withAddress, withDatabase } from './database-url.ts';

test.each([
  ['mongodb://localhost:27017/animals_test', 'animals_test', 'localhost:27017', 'mongodb://localhost:27017/other'],
  ['mongodb://one:1,two:2/?tls=true', '', 'one:1', 'mongodb://one:1,two:2/other?tls=true'],
  ['mongodb://localhost', '', 'localhost', 'mongodb://localhost/other'],
  // Who logs in does so where the first URL said: by default in the database it names.
  ['mongodb://me:p%40s@host/a_test', 'a_test', 'host', 'mongodb://me:p%40s@host/other?authSource=a_test'],
  ['mongodb://me:p@host/a?authSource=b', 'a', 'host', 'mongodb://me:p@host/other?authSource=b'],
  ['mongodb+srv://me:p@host/?x=1', '', 'host', 'mongodb+srv://me:p@host/other?x=1'],
])('%s leads to the database %o on %s', (url, database, address, other) => {
  expect(databaseOf(url)).toBe(database);
  expect(addressOf(url)).toBe(address);
  expect(withDatabase(url, 'other')).toBe(other);
});

test('a detour has the same user, database and options', () => {
  expect(withAddress('mongodb://me:p@one:1,two:2/animals?tls=true', '127.0.0.1:5')).toBe(
    'mongodb://me:p@127.0.0.1:5/animals?tls=true',
  );
});

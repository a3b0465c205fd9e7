import { expect, onTestFinished, test } from 'vitest';
import { identityOf } from '../src/file.ts';
import { openFile, type Statement } from '../src/schema.ts';
import { createWriter } from '../src/writer.ts';
import { databaseAt, freshFile } from './fixtures.ts';

// tools/explorer has threads that end or hang, and files that are replaced.

const create = (name: string): [Statement] => [
  ['INSERT INTO pets (name, category_id, created_at) VALUES (?, 7, 0) RETURNING id', name],
];

test('a transaction commits nothing after an error that is no violated constraint, and the next one commits', async () => {
  const path = freshFile();
  const { db } = openFile(path);
  onTestFinished(() => db.close());
  const { commit, close } = createWriter({ path, files: [path], identity: identityOf([path]) });
  onTestFinished(close);
  const failed = expect.objectContaining({ message: 'no such table: missing' });
  expect(await commit([create('Rex'), [['SELECT * FROM missing']], create('Max')])).toEqual([failed, failed, failed]);
  expect(await commit([create('Tom')])).toEqual([[[1n]]]);
  expect(databaseAt(path, { returnArrays: true }).prepare('SELECT name FROM pets').all().flat()).toEqual(['Tom']);
});

import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { filesAt, openFile, type Statement } from '../src/schema.ts';
import { createWriter } from '../src/writer.ts';
import { databaseAt, freshFile } from './fixtures.ts';

// tools/explorer has threads that end or hang, and files that are replaced.

function writer() {
  const path = freshFile();
  const { db } = openFile(path, () => {});
  onTestFinished(() => db.close());
  const { commit, close } = createWriter({ path, files: filesAt(path) });
  onTestFinished(close);
  const names = () => databaseAt(path, { returnArrays: true }).prepare('SELECT name FROM pets').all().flat();
  return { path, commit, names };
}

const create = (name: string): [Statement] => [
  ['INSERT INTO pets (name, category_id, created_at) VALUES (?, 7, 0) RETURNING id', name],
];

test('commits writes in their order, until each has rows or an error', async () => {
  const { commit, names } = writer();
  const write = [['UPDATE pets SET category_id = 8'], ['SELECT name FROM pets'], ...create('Tom')] as const;
  expect(await commit([create('Rex'), create(''), create('Max'), write])).toEqual([
    [[1n]],
    { code: 'ERR_SQLITE_ERROR', errcode: 275, errstr: 'constraint failed', message: expect.stringContaining('CHECK') },
    [[2n]],
    [['Rex'], ['Max']],
  ]);
  expect(names()).toEqual(['Rex', 'Max']);
});

test('commits nothing after an error that is no violated constraint, and the next writes', async () => {
  const { commit, names } = writer();
  const failed = expect.objectContaining({ message: 'no such table: missing' });
  expect(await commit([create('Rex'), [['SELECT * FROM missing']], create('Max')])).toEqual([failed, failed, failed]);
  expect(await commit([create('Tom')])).toEqual([[[1n]]]);
  expect(names()).toEqual(['Tom']);
});

test('replies with the error of the lock while another connection holds it, and commits when it is released', async () => {
  const { path, commit, names } = writer();
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  expect(await commit([create('Rex')])).toEqual([expect.objectContaining({ errcode: 5 })]);
  const committing = commit([create('Max')]);
  // The first try has failed by now: it is synchronous.
  other.close();
  expect(await committing).toEqual([[[1n]]]);
  expect(names()).toEqual(['Max']);
});

import { readFileSync } from 'node:fs';
import { added, everyPage, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { expect, test } from 'vitest';
import { databaseAt, freshFile, storageAt } from './fixtures.ts';

test('idempotency keys are removed by age with the statement of docs/storage-sqlite.md', async () => {
  const page = readFileSync(new URL('../../../docs/storage-sqlite.md', import.meta.url), 'utf8');
  const statement = /UPDATE pets SET idempotency_[^;]+;/.exec(page)?.[0] ?? '';
  const file = freshFile();
  const storage = await storageAt(file);
  const named = (key: string) => [rex(), idempotencyOf(rex(), key)] as const;
  const db = databaseAt(file);
  for (const key of ['old', 'new']) await added(storage.pets, ...named(key));
  db.exec(`UPDATE pets SET created_at = created_at - ${30 * 86_400_000 + 60_000} WHERE idempotency_key = 'old'`);

  expect(db.prepare(statement).run().changes).toBe(1);
  expect((await storage.pets.add(...named('new')))?.created).toBe(false);
  expect((await storage.pets.add(...named('old')))?.created).toBe(true);
  expect(await everyPage(storage.pets)).toHaveLength(3);
});

test('ids are below 2^53, and a call beyond that throws a defect', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  await added(storage.pets);
  databaseAt(file).exec('UPDATE sqlite_sequence SET seq = 9007199254740990');
  expect((await added(storage.pets)).id).toBe(2n ** 53n - 1n);
  await expect(added(storage.pets)).rejects.toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 275 });
});

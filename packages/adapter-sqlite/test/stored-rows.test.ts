import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addTo, databaseAt, everyPet, freshFile, rex, storageAt } from './fixtures.ts';

test('idempotency keys are removed by age with the statement of docs/storage-sqlite.md', async () => {
  const page = readFileSync(new URL('../../../docs/storage-sqlite.md', import.meta.url), 'utf8');
  const statement = /UPDATE pets SET idempotency_[^;]+;/.exec(page)?.[0] ?? '';
  const file = freshFile();
  const storage = await storageAt(file);
  const named = (key: string) => [rex, { holder: 'the zoo', key, fingerprint: 'f' }] as const;
  const db = databaseAt(file);
  for (const key of ['old', 'new']) await addTo(storage, ...named(key));
  db.exec(`UPDATE pets SET created_at = created_at - ${30 * 86_400_000 + 60_000} WHERE idempotency_key = 'old'`);

  expect(db.prepare(statement).run().changes).toBe(1);
  expect((await storage.pets.add(...named('new')))?.created).toBe(false);
  expect((await storage.pets.add(...named('old')))?.created).toBe(true);
  expect(await everyPet(storage)).toHaveLength(3);
});

test('ids are below 2^53, and a call beyond that throws a defect', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  await addTo(storage, rex);
  databaseAt(file).exec('UPDATE sqlite_sequence SET seq = 9007199254740990');
  expect((await addTo(storage, rex))?.id).toBe(2n ** 53n - 1n);
  await expect(addTo(storage, rex)).rejects.toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 275 });
});

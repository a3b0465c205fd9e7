import { DatabaseSync } from 'node:sqlite';
import { freshDatabaseFile } from '@animal-store/test-kit/fresh-folder';
import { expect, onTestFinished, test } from 'vitest';
import { KEY } from './service.ts';
import { startProcess } from './service-process.ts';

test('starts on a file that another program has locked, and is ready when it is unlocked', async () => {
  const file = freshDatabaseFile();
  const other = new DatabaseSync(file);
  onTestFinished(() => {
    if (other.isOpen) other.close();
  });
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  const running = startProcess({ STORAGE: 'sqlite', SQLITE_FILE: file, API_KEYS: KEY });
  const { call } = await running.listens();
  expect((await call('GET', '/livez')).status).toBe(200);
  for (const path of ['/readyz', '/v1/pets']) expect((await call('GET', path)).status).toBe(503);
  await running.says(/the storage is unavailable/);
  other.close();
  await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
  await running.says(/the storage is available/);
  expect((await call('GET', '/v1/pets')).status).toBe(200);
  expect(running.logged(50)).toEqual([]);
});

import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { freshFile, KEY } from './service.ts';
import { startProcess } from './service-process.ts';

const start = (file: string) => startProcess({ STORAGE: 'sqlite', SQLITE_FILE: file, API_KEYS: KEY });

test('starts on a file that another program has locked, and is ready when it is unlocked', async () => {
  const file = freshFile();
  const other = new DatabaseSync(file);
  onTestFinished(() => {
    if (other.isOpen) other.close();
  });
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  const running = start(file);
  const { call } = await running.listens();
  expect((await call('GET', '/livez')).status).toBe(200);
  expect((await call('GET', '/readyz')).status).toBe(503);
  expect((await call('GET', '/v1/pets')).status).toBe(503);
  await running.says(/the storage is unavailable/);
  other.close();
  await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
  await running.says(/the storage is available/);
  expect((await call('GET', '/v1/pets')).status).toBe(200);
  expect(running.logged(50)).toEqual([]);
});

test('logs a warning for a damaged file, and is not ready', async () => {
  const file = freshFile();
  const filling = start(file);
  const { add } = await filling.listens();
  for (let count = 0; count < 60; count += 1) await add({ name: '🐕'.repeat(200), categoryId: 1 });
  filling.process.kill('SIGTERM');
  expect(await filling.exit).toBe(0);
  const handle = openSync(file, 'r+');
  // The damage spares the last pets, which a check of the storage reads.
  const quarter = statSync(file).size / 4;
  writeSync(handle, Buffer.alloc(quarter, 0x5a), 0, undefined, 2 * quarter);
  closeSync(handle);

  const running = start(file);
  const { call } = await running.listens();
  expect((await call('GET', '/readyz')).status).toBe(200);
  const response = await call('GET', '/v1/pets?limit=100');
  expect(response.status).toBe(503);
  expect(response.text).not.toMatch(/damaged|animals\.db|sql/i);
  expect((await call('GET', '/readyz')).status).toBe(503);
  expect((await call('GET', '/livez')).status).toBe(200);
  await running.says(/the storage is unavailable/);
  expect(running.logged(40)).toContainEqual(
    expect.objectContaining({ at: file, reason: expect.stringContaining('it is damaged: restore a backup') }),
  );
});

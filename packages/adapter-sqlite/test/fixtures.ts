import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { added } from '@animal-store/adapter-contract';
import type { Storage } from '@animal-store/domain/ports';
import { expect, onTestFinished } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { freshPlace } from './fresh-place.ts';

export { freshPlace as freshFile };

/** A storage that is closed when the running test ends. Nothing has been written yet. Its file is its `location`. */
export async function openAt(file = freshPlace()): Promise<Storage> {
  const storage = await createSqliteStorage({ file });
  onTestFinished(() => storage.close());
  return storage;
}

/** The same when it is ready: its thread may start more slowly on a busy machine than a call may take. */
export async function storageAt(file = freshPlace()): Promise<Storage> {
  const storage = await openAt(file);
  await untilReady(storage);
  return storage;
}

export const untilReady = ({ ready }: Storage) =>
  expect.poll(() => ready().then(() => null, String), { timeout: 30_000 }).toBe(null);

/** A connection beside those of storages, closed when the running test ends. */
export function databaseAt(file: string, options: DatabaseSyncOptions = {}): DatabaseSync {
  const db = new DatabaseSync(file, options);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}

/** Runs SQL as another program. */
export const execute = (sql: string) => (file: string) => {
  const db = databaseAt(file, { timeout: 10_000 });
  db.exec(sql);
  db.close();
};

/** A file with as many pets that no storage has open. */
export async function fileWith(pets: number, file = freshPlace()): Promise<string> {
  const storage = await storageAt(file);
  // Not all at once: a storage serves a thousand calls.
  for (let left = pets; left > 0; left -= 500)
    await Promise.all(Array.from({ length: Math.min(left, 500) }, () => added(storage.pets)));
  await storage.close();
  return file;
}

/** How a call fails until an operator does something. */
export const misconfigured = (reason: RegExp) => ({
  code: 'storage_unavailable',
  cause: { name: 'StorageMisconfigured', message: expect.stringMatching(reason) },
});

import { copyFileSync, existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { NewPet } from '@animal-store/domain';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { addTo } from './add-to.ts';
import { freshFile } from './fresh-file.ts';
import { startProcess } from './processes.ts';

const rex: NewPet = { name: 'Rex', categoryId: 1n };

function opened() {
  const file = freshFile();
  const storage = createSqliteStorage({ file });
  onTestFinished(() => storage.close() as Promise<void>);
  const failure = {
    code: 'storage_unavailable',
    message: 'the storage cannot be used until its operator has repaired it',
    cause: expect.objectContaining({
      name: 'StorageMisconfigured',
      message: expect.stringMatching(
        /animals\.db cannot be used: it or its log was deleted or replaced while it was open: [^\n]+$/,
      ),
    }),
  };
  return { file, storage, failure };
}

describe('while a file is open, nothing more is acknowledged after', () => {
  test.each<[string, (file: string) => void]>([
    ['it was deleted', (file) => rmSync(file)],
    ['it was moved', (file) => renameSync(file, `${file}.old`)],
    [
      'it was replaced by a copy',
      (file) => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
    ],
    ['its log was deleted', (file) => rmSync(`${file}-wal`)],
    ["its log's index was deleted", (file) => rmSync(`${file}-shm`)],
    [
      "its log's index was replaced by a copy",
      (file) => {
        copyFileSync(`${file}-shm`, `${file}-shm.copy`);
        renameSync(`${file}-shm.copy`, `${file}-shm`);
      },
    ],
    [
      'it was replaced by something that can not be read',
      (file) => {
        rmSync(file);
        symlinkSync(file, file);
      },
    ],
    ['its log was moved', (file) => renameSync(`${file}-wal`, `${file}-wal.old`)],
    [
      'its log was deleted, and another process that opened the file has created a new one',
      (file) => {
        rmSync(`${file}-wal`);
        writeFileSync(`${file}-wal`, '');
      },
    ],
    [
      'its log was replaced by a copy',
      (file) => {
        copyFileSync(`${file}-wal`, `${file}-wal.copy`);
        renameSync(`${file}-wal.copy`, `${file}-wal`);
      },
    ],
  ])('%s', async (_, replace) => {
    const { file, storage, failure } = opened();
    const pet = await addTo(storage.pets, rex);
    replace(file);
    await expect(addTo(storage.pets, rex)).rejects.toMatchObject(failure);
    await expect(storage.ready()).rejects.toMatchObject(failure);
    // What was acknowledged is still read.
    expect(await storage.pets.list({ after: 0n, limit: 10 })).toEqual([pet]);
  });

  test('it was deleted before the first write, which does not create another', async () => {
    const { file, storage, failure } = opened();
    rmSync(file);
    await expect(addTo(storage.pets, rex)).rejects.toMatchObject(failure);
    expect(existsSync(file)).toBe(false);
  });

  test('it was replaced before the first write, which does not change the other', async () => {
    const { file, storage, failure } = opened();
    const other = freshFile();
    await createSqliteStorage({ file: other }).close();
    renameSync(other, file);
    await expect(addTo(storage.pets, rex)).rejects.toMatchObject(failure);
  });
});

test('a folder that is moved, with a link to it in its place, changes nothing', async () => {
  const { file, storage } = opened();
  await addTo(storage.pets, rex);
  const folder = dirname(file);
  renameSync(folder, `${folder}.moved`);
  symlinkSync(`${folder}.moved`, folder);
  onTestFinished(() => {
    rmSync(folder);
    renameSync(`${folder}.moved`, folder);
  });
  await addTo(storage.pets, rex);
  expect(await storage.pets.list({ after: 0n, limit: 10 })).toHaveLength(2);
});

test('a file that is put back is used again, without the writes that were rejected meanwhile', async () => {
  const { file, storage, failure } = opened();
  const first = await addTo(storage.pets, rex);
  renameSync(file, `${file}.moved`);
  await expect(addTo(storage.pets, { ...rex, name: 'Max' })).rejects.toMatchObject(failure);
  renameSync(`${file}.moved`, file);
  await storage.ready();
  const second = await addTo(storage.pets, rex);
  expect(await storage.pets.list({ after: 0n, limit: 10 })).toEqual([first, second]);
});

test('checkpoints, other processes and closed connections replace no file', async () => {
  const { file, storage } = opened();
  const others = [createSqliteStorage({ file }), createSqliteStorage({ file })];
  for (const other of others) {
    await addTo(other.pets, rex);
    await other.close();
  }
  await startProcess(file, 'await addFrom(0, 2_000); await storage.close();').acknowledged();
  await addTo(storage.pets, rex);
  await storage.ready();
});

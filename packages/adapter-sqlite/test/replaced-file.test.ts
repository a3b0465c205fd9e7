import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { added, everyPage, rex } from '@animal-store/adapter-contract';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { freshFile, openAt, storageAt } from './fixtures.ts';

const FAILURE = {
  code: 'storage_unavailable',
  cause: expect.objectContaining({
    name: 'StorageMisconfigured',
    message: expect.stringMatching(
      /animals\.db cannot be used: it or its log was deleted or replaced while it was open: [^\n]+$/,
    ),
  }),
};

async function opened() {
  const file = freshFile();
  return { file, storage: await storageAt(file) };
}

function replaceByCopy(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}

describe('while a file is open, nothing more is acknowledged after', () => {
  test.each<[string, (file: string) => void]>([
    ['it was deleted', (file) => rmSync(file)],
    ['it was replaced by a copy', (file) => replaceByCopy(file)],
    ["its log's index was deleted", (file) => rmSync(`${file}-shm`)],
    ['its log was deleted', (file) => rmSync(`${file}-wal`)],
    ['its log was replaced by a copy', (file) => replaceByCopy(`${file}-wal`)],
  ])('%s', async (_, replace) => {
    const { file, storage } = await opened();
    const pet = await added(storage.pets);
    replace(file);
    for (let count = 0; count < 2; count += 1) {
      await expect(added(storage.pets)).rejects.toMatchObject(FAILURE);
      await expect(storage.ready()).rejects.toMatchObject(FAILURE);
    }
    // Acknowledged pets can still be read.
    expect(await everyPage(storage.pets)).toEqual([pet]);
  });

  test('it was deleted before the first write, which does not create another', async () => {
    const file = freshFile();
    const storage = await openAt(file);
    rmSync(file);
    await expect(added(storage.pets)).rejects.toMatchObject(FAILURE);
    expect(existsSync(file)).toBe(false);
  });
});

test('raises no alarm if the storage is closed while its first write is pending', async () => {
  const file = freshFile();
  const storage = await openAt(file);
  const creation = added(storage.pets).catch((error: Error) => error);
  // The write is sent in a few turns, while the thread is still starting.
  for (let count = 0; count < 10; count += 1) await nextTurn();
  await storage.close();
  const outcome = await creation;
  expect(outcome).not.toMatchObject({ message: 'the storage is closed' });
  // On a busy machine the thread may not start in time.
  if (outcome instanceof Error) expect(outcome.cause).not.toSatisfy(StorageMisconfigured.is);
  else expect(await everyPage((await openAt(file)).pets)).toEqual([outcome]);
});

test('a file that is put back is used again, without the writes that were rejected meanwhile', async () => {
  const { file, storage } = await opened();
  const first = await added(storage.pets);
  renameSync(file, `${file}.moved`);
  await expect(added(storage.pets, rex({ name: 'Max' }))).rejects.toMatchObject(FAILURE);
  renameSync(`${file}.moved`, file);
  await storage.ready();
  const second = await added(storage.pets);
  expect(await everyPage(storage.pets)).toEqual([first, second]);
});

import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { addTo, everyPet, freshFile, openAt, rex, storageAt } from './fixtures.ts';

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
    const pet = await addTo(storage, rex);
    replace(file);
    for (let count = 0; count < 2; count += 1) {
      await expect(addTo(storage, rex)).rejects.toMatchObject(FAILURE);
      await expect(storage.ready()).rejects.toMatchObject(FAILURE);
    }
    // Acknowledged pets can still be read.
    expect(await everyPet(storage)).toEqual([pet]);
  });

  test('it was deleted before the first write, which does not create another', async () => {
    const file = freshFile();
    const storage = await openAt(file);
    rmSync(file);
    await expect(addTo(storage, rex)).rejects.toMatchObject(FAILURE);
    expect(existsSync(file)).toBe(false);
  });
});

test('a file that is put back is used again, without the writes that were rejected meanwhile', async () => {
  const { file, storage } = await opened();
  const first = await addTo(storage, rex);
  renameSync(file, `${file}.moved`);
  await expect(addTo(storage, { ...rex, name: 'Max' })).rejects.toMatchObject(FAILURE);
  renameSync(`${file}.moved`, file);
  await storage.ready();
  const second = await addTo(storage, rex);
  expect(await everyPet(storage)).toEqual([first, second]);
});

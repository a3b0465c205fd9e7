import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { added, everyPage } from '@animal-store/adapter-contract';
import { expect, onTestFinished, test } from 'vitest';
import { fileWith, storageAt } from './fixtures.ts';

const PAGE = 4_096;

/** So many pets take about ten pages. */
const PETS = 2_000;

/** Overwrites part of a file, as a disk does that fails. */
function overwrite(file: string, position: number, length: number): void {
  // The handle is closed after the storage, because closing it drops the locks of this process.
  const handle = openSync(file, 'r+');
  onTestFinished(() => closeSync(handle));
  writeSync(handle, Buffer.alloc(length, 0x5a), 0, length, position);
}

const failureWith = (file: string, reason: string) => ({
  code: 'storage_unavailable',
  cause: expect.objectContaining({ name: 'StorageMisconfigured', message: `${file} cannot be used: ${reason}` }),
});

test('a damaged page makes the reads that meet it, every write and ready fail as a configuration error', async () => {
  const file = await fileWith(PETS);
  const storage = await storageAt(file);
  // Neither the first pets nor the last ones.
  const position = Math.floor(statSync(file).size * 0.75);
  overwrite(file, position - (position % PAGE), 2 * PAGE);

  const damaged = failureWith(file, 'it is damaged: restore a backup');
  await expect(everyPage(storage.pets)).rejects.toMatchObject(damaged);
  await expect(storage.ready()).rejects.toMatchObject(damaged);
  await expect(added(storage.pets)).rejects.toMatchObject(damaged);
  // Undamaged pages can still be read, and nothing was added.
  expect(await storage.pets.find(1n)).toMatchObject({ id: 1n });
  expect(await storage.pets.find(BigInt(PETS + 1))).toBeNull();
});

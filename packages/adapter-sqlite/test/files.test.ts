import {
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { added, everyPage, rex } from '@animal-store/adapter-contract';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { fileWith, freshFile, misconfigured, openAt, storageAt } from './fixtures.ts';

const REPLACED = misconfigured(
  /animals\.db cannot be used: it or its log was deleted or replaced while it was open: [^\n]+$/,
);

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
    const file = freshFile();
    const storage = await storageAt(file);
    const pet = await added(storage.pets);
    replace(file);
    for (let count = 0; count < 2; count += 1) {
      await expect(added(storage.pets)).rejects.toMatchObject(REPLACED);
      await expect(storage.ready()).rejects.toMatchObject(REPLACED);
    }
    // Acknowledged pets can still be read.
    expect(await everyPage(storage.pets)).toEqual([pet]);
  });

  test('it was deleted before the first write, which does not create another', async () => {
    const file = freshFile();
    const storage = await openAt(file);
    rmSync(file);
    await expect(added(storage.pets)).rejects.toMatchObject(REPLACED);
    expect(existsSync(file)).toBe(false);
  });

  test.each(['the file', 'the folder'])('the link to %s leads elsewhere', async (what) => {
    const [file, other, link] = [await fileWith(1), await fileWith(2), freshFile()];
    const [from, to] = what === 'the file' ? [file, other] : [dirname(file), dirname(other)];
    symlinkSync(from, link);
    const storage = await storageAt(what === 'the file' ? link : join(link, 'animals.db'));
    rmSync(link);
    symlinkSync(to, link);
    await expect(added(storage.pets)).rejects.toMatchObject(REPLACED);
    expect(await everyPage(storage.pets)).toHaveLength(1);
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
  const file = freshFile();
  const storage = await storageAt(file);
  const first = await added(storage.pets);
  renameSync(file, `${file}.moved`);
  await expect(added(storage.pets, rex({ name: 'Max' }))).rejects.toMatchObject(REPLACED);
  renameSync(`${file}.moved`, file);
  await storage.ready();
  const second = await added(storage.pets);
  expect(await everyPage(storage.pets)).toEqual([first, second]);
});

test('a damaged page makes the reads that meet it, every write and ready fail as a configuration error', async () => {
  const file = await fileWith(2_000);
  // Two of some ten pages, neither the first nor the last one.
  const bytes = readFileSync(file);
  const position = Math.floor((bytes.length / 4_096) * 0.75) * 4_096;
  writeFileSync(file, bytes.fill(0x5a, position, position + 2 * 4_096));
  const storage = await storageAt(file);

  const damaged = misconfigured(/animals\.db cannot be used: it is damaged: restore a backup$/);
  await expect(everyPage(storage.pets)).rejects.toMatchObject(damaged);
  await expect(storage.ready()).rejects.toMatchObject(damaged);
  await expect(added(storage.pets)).rejects.toMatchObject(damaged);
  // Undamaged pages can still be read, and nothing was added.
  expect(await storage.pets.find(1n)).toMatchObject({ id: 1n });
  expect(await storage.pets.find(2_001n)).toBeNull();
});

// A file with two names has two logs. What is written to one of them is lost when the file is next opened by its other name.

test.each<[string, (file: string, link: string) => unknown]>([
  ['a link to it', symlinkSync],
  ['a link to a link', (file, link) => [symlinkSync(file, `${link}2`), symlinkSync(`${link}2`, link)]],
  ['a relative link', (file, link) => symlinkSync(`../${basename(dirname(file))}/animals.db`, link)],
])('a file has one log if it is opened, or created, by %s', async (_, makeLink) => {
  const [file, link] = [freshFile(), freshFile()];
  makeLink(file, link);
  const storage = await storageAt(link);
  expect(storage.location).toBe(realpathSync(file));
  const pet = await added(storage.pets);
  expect(existsSync(`${link}-wal`)).toBe(false);
  expect(await everyPage((await openAt(file)).pets)).toEqual([pet]);

  rmSync(`${file}-wal`);
  await expect(added(storage.pets)).rejects.toMatchObject(REPLACED);
});

test('a hard link that a program makes while the file is open is no outage', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  linkSync(file, `${file}.link`);
  await storage.ready();
  const pet = await added(storage.pets);
  expect(await everyPage(storage.pets)).toEqual([pet]);
});

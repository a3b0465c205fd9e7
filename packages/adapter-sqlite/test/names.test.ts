import { existsSync, linkSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { added, everyPage } from '@animal-store/adapter-contract';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fileWith, freshFile, openAt, storageAt } from './fixtures.ts';

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>();
  return { ...original, readFileSync: vi.fn(original.readFileSync) };
});

// A file with two names has two logs. What is written to one of them is lost when the file is next opened by its other name.

const REPLACED = {
  cause: { message: expect.stringMatching(/animals\.db cannot be used: it or its log was deleted or replaced/) },
};

describe('a link, and a file that is opened by it, have one log', () => {
  test.each<[string, (file: string, link: string) => unknown]>([
    ['to the file', symlinkSync],
    ['to a link', (file, link) => [symlinkSync(file, `${link}2`), symlinkSync(`${link}2`, link)]],
    ['relative to its folder', (file, link) => symlinkSync(`../${basename(dirname(file))}/animals.db`, link)],
  ])('%s, also before the file exists', async (_, makeLink) => {
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

  test.each(['the file', 'the folder'])(
    'nothing more is acknowledged after the link to %s leads elsewhere',
    async (what) => {
      const [file, other, link] = [await fileWith(1), await fileWith(2), freshFile()];
      const [from, to] = what === 'the file' ? [file, other] : [dirname(file), dirname(other)];
      symlinkSync(from, link);
      const storage = await storageAt(what === 'the file' ? link : join(link, 'animals.db'));
      rmSync(link);
      symlinkSync(to, link);
      await expect(added(storage.pets)).rejects.toMatchObject(REPLACED);
      expect(await everyPage(storage.pets)).toHaveLength(1);
    },
  );
});

describe('opening rejects', () => {
  test('each name of a file with a hard link, until one is left', async () => {
    const file = await fileWith(1);
    const link = `${file}.link`;
    linkSync(file, link);
    for (const name of [file, link]) {
      await expect(openAt(name)).rejects.toThrow(
        `${name} cannot be used: it has a second name (a hard link): keep only the one with a log (-wal)`,
      );
    }
    rmSync(link);
    expect(await everyPage((await openAt(file)).pets)).toHaveLength(1);
  });

  test('a file that is mounted without its folder', async () => {
    const folder = join(dirname(freshFile()), 'my animals\\ours');
    mkdirSync(folder);
    const file = join(folder, 'animals.db');
    renameSync(await fileWith(1), file);
    const mountAt = (point: string) => `425 27 254:0 /root/animals.db ${point} rw,relatime - ext4 /dev/vda rw\n`;
    const listed = vi.mocked(readFileSync);
    onTestFinished(() => void listed.mockRestore());
    // A space and a backslash, as proc(5) shows them.
    const shown = file.replace('my animals\\', 'my\\040animals\\134');
    listed.mockReturnValueOnce(mountAt(dirname(shown)) + mountAt(shown));
    await expect(openAt(file)).rejects.toThrow(
      `${file} cannot be used: it is mounted without its log: mount its folder`,
    );
    listed.mockReturnValueOnce(mountAt(dirname(shown)));
    expect(await everyPage((await openAt(file)).pets)).toHaveLength(1);
  });
});

test('a hard link that a program makes while the file is open is no outage', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  linkSync(file, `${file}.link`);
  await storage.ready();
  const pet = await added(storage.pets);
  expect(await everyPage(storage.pets)).toEqual([pet]);
});

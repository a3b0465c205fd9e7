import { mkdtempSync, rmdirSync, type StatsFs, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { checkFileSystem, checkName, checkPlace } from './place.ts';

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>();
  return { ...original, statfsSync: vi.fn(original.statfsSync) };
});

describe('checkName', () => {
  test.each([':memory:', 'file:animals.db', 'file:'])('rejects %s', (name) => {
    expect(() => checkName(name)).toThrow(
      `it is a name of SQLite, not a path: for a file of that name write ./${name}`,
    );
  });

  // SQLite reads each of them as a path.
  test.each(['', ':memory:.db', 'a:memory:', './:memory:', 'profile:animals.db', 'FILE:animals.db'])(
    'accepts %j',
    (name) => {
      expect(() => checkName(name)).not.toThrow();
    },
  );
});

describe('checkPlace', () => {
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'animal-store-place-'));
    onTestFinished(() => rmdirSync(path));
    return path;
  };

  test('rejects a folder', () => {
    expect(() => checkPlace(folder())).toThrow('it must be a regular file');
  });

  test('rejects a network by the type of the file or, if it is new, of its folder', () => {
    const parent = folder();
    for (const [path, examined] of [
      [import.meta.filename, import.meta.filename],
      [join(parent, 'animals.db'), parent],
    ] as const) {
      vi.mocked(statfsSync).mockReturnValueOnce({ type: 0x6969 } as StatsFs);
      expect(() => checkPlace(path)).toThrow('it is on a network (NFS)');
      expect(statfsSync).toHaveBeenLastCalledWith(examined);
    }
  });

  test('accepts a file, a new one, and one whose folder does not exist', () => {
    for (const path of [import.meta.filename, join(folder(), 'animals.db'), join(folder(), 'no', 'animals.db')]) {
      expect(() => checkPlace(path)).not.toThrow();
    }
  });
});

describe('checkFileSystem', () => {
  test.each([
    ['NFS', 0x6969],
    ['SMB', 0x517b],
    ['SMB', 0xfe534d42],
    ['SMB', 0xff534d42],
    ['AFS', 0x5346414f],
    ['AFS', 0x6b414653],
    ['Ceph', 0x00c36400],
    ['Lustre', 0x0bd00bd0],
    ['GPFS', 0x47504653],
    ['BeeGFS', 0x19830326],
  ])('rejects %s', (name, type) => {
    expect(() => checkFileSystem(type)).toThrow(`it is on a network (${name}): put it on a local disk`);
  });

  test.each([
    ['ext4', 0xef53],
    ['XFS', 0x58465342],
    ['Btrfs', 0x9123683e],
    ['ZFS', 0x2fc12fc1],
    ['overlay', 0x794c7630],
    ['tmpfs', 0x01021994],
    ['an unknown one', 0],
  ])('accepts %s', (_, type) => {
    expect(() => checkFileSystem(type)).not.toThrow();
  });
});

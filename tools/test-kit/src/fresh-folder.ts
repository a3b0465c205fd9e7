import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The path of a new folder, which is removed when the running test ends. */
export function freshFolder(parent: string = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'animal-store-'));
  // A process that was killed may be writing still.
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  return folder;
}

/** The path of a file in a new folder. */
export function freshFile(name: string, content: string): string {
  const file = join(freshFolder(), name);
  writeFileSync(file, content);
  return file;
}

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';

/** More than the files of a test, with their logs and copies, in bytes. In a container the memory often has 64 MiB. */
const ENOUGH = 2 ** 30;

function hasEnough(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > ENOUGH;
}

/**
 * The path of a database file that does not exist, in a new folder. It is in memory if that has space: a busy disk may need
 * longer for a commit than a call may take.
 */
export const freshDatabaseFile = (parent: string = hasEnough(MEMORY) ? MEMORY : tmpdir()): string =>
  join(freshFolder(parent), 'animals.db');

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Where Linux keeps files in memory: most tests wait for the disk. */
const MEMORY = '/dev/shm';

/** The path of a file that does not exist, in a folder of its own that is removed when the running test ends. */
export function freshPlace(parent = existsSync(MEMORY) ? MEMORY : tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'animal-store-sqlite-'));
  // A process that was killed may be writing still.
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  return join(folder, 'animals.db');
}

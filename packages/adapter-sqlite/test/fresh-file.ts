import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The path of a file that does not exist, in a folder of its own that goes when the running test ends. */
export function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'animals.db');
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The path of a new folder, which is removed when the running test ends. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  return folder;
}

/** The path of a file in a new folder. */
export function freshFile(name: string, content: string): string {
  const file = join(freshFolder(), name);
  writeFileSync(file, content);
  return file;
}

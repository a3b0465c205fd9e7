import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** After this many milliseconds without a write a partial file is abandoned. A file of its own gets one many times a second. */
const ABANDONED = 24 * 3_600_000;

/** The names that `createPartial` gives, after that of the file. */
const NAME = /^\.partial-(?:restore|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** A file that is being written beside another one. Disposing of it removes it. */
export interface PartialFile extends Disposable {
  readonly path: string;
}

/**
 * Creates an empty file that only this user may read. Removes abandoned ones, which SIGKILL or a power cut leaves.
 *
 * @param name Replaces an earlier one of this name.
 */
export function createPartial(file: string, name: string = randomUUID()): PartialFile {
  removeAbandoned(file);
  const path = `${file}.partial-${name}`;
  rmSync(path, { force: true });
  closeSync(openSync(path, 'wx', 0o600));
  return { path, [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

function removeAbandoned(file: string): void {
  const [folder, prefix] = [dirname(file), basename(file)];
  for (const name of readdirSync(folder)) {
    if (!(name.startsWith(prefix) && NAME.test(name.slice(prefix.length)))) continue;
    try {
      const path = join(folder, name);
      if (Date.now() - statSync(path).mtimeMs > ABANDONED) rmSync(path);
    } catch {
      // Another process removes it, too, or it is another user's.
    }
  }
}

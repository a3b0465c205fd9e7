import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * After this many milliseconds without a write a partial file is abandoned: a nightly backup removes what the one of the night
 * before has left. A file in use gets a write many times a second.
 */
const ABANDONED = 12 * 3_600_000;

const SUFFIX = /^(?:restore|[\da-f]{16})$/;

/** A file that is being written beside another one. Disposing of it removes it. */
export interface PartialFile extends Disposable {
  readonly path: string;
}

/**
 * The beginning of the names of a file's partial files: `a1b2c3d4.partial-`. It is short, because the file's own name may be as
 * long as file systems allow.
 */
export function prefixOf(file: string): string {
  const digest = createHash('sha256').update(basename(file)).digest('hex');
  return `${digest.slice(0, 8)}.partial-`;
}

/**
 * Creates an empty file that only this user may read. Removes abandoned ones, which SIGKILL or a power cut leaves.
 *
 * @param name Replaces an earlier one of this name.
 */
export function createPartial(file: string, name: 'restore' | null = null): PartialFile {
  removeAbandoned(file);
  const path = join(dirname(file), prefixOf(file) + (name ?? randomBytes(8).toString('hex')));
  rmSync(path, { force: true });
  closeSync(openSync(path, 'wx', 0o600));
  return { path, [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

function removeAbandoned(file: string): void {
  const [folder, prefix] = [dirname(file), prefixOf(file)];
  for (const name of readdirSync(folder)) {
    if (!(name.startsWith(prefix) && SUFFIX.test(name.slice(prefix.length)))) continue;
    try {
      const path = join(folder, name);
      if (Date.now() - statSync(path).mtimeMs > ABANDONED) rmSync(path);
    } catch {
      // Another process removes it, too, or it is another user's.
    }
  }
}

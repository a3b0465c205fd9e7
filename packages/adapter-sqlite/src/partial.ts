import { mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The names in a partial folder, with those that SQLite adds. */
const OWN = /^(?:lock|copy)(?:-journal|-wal|-shm)?$/;

/** A file that is being written beside another one, in a folder of its own. Disposing of it removes what is left. */
export interface PartialFile extends Disposable {
  readonly path: string;
}

/** Only this user may read the file. Removes those beside it whose processes have ended without doing so. */
export function createPartial(file: string): PartialFile {
  const prefix = `${file}.partial-`;
  for (const entry of readdirSync(dirname(file), { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name.startsWith(basename(prefix)))
      removeAbandoned(join(dirname(file), entry.name));
  }
  const folder = mkdtempSync(prefix);
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  try {
    const lock = lockFolder(folder);
    return {
      path: join(folder, 'copy'),
      [Symbol.dispose]() {
        lock.close();
        removeFolder();
      },
    };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

function removeAbandoned(folder: string): void {
  try {
    const names = readdirSync(folder);
    // A folder with other content is not ours.
    if (!(names.includes('lock') && names.every((name) => OWN.test(name)))) return;
    lockFolder(folder).close();
    for (const name of names) rmSync(join(folder, name), { force: true });
    rmdirSync(folder);
  } catch {
    // Its process runs, or it is another user's.
  }
}

/** Locks a folder for this process. A process that ends has no locks, also after SIGKILL, and in another container. */
function lockFolder(folder: string): DatabaseSync {
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

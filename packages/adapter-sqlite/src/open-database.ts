import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { cannotOpen, isBusy } from './failures.ts';
import { migrate } from './schema.ts';

/** How long other processes may keep a file from being opened, in milliseconds; this one is blocked meanwhile. */
const OPENING_LIMIT = 2_000;

const PAUSE = 10;

/** Needs the lock for writing, and writes nothing. `BEGIN IMMEDIATE` begins on a file that can only be read, too. */
export const TRY_WRITING = 'UPDATE pets SET name = name WHERE id = 0';

/** Opens a file, new or not, with the present schema. @throws StorageMisconfigured if it can't be what it has to be. */
export function openDatabase(file: string): DatabaseSync {
  // An absolute path is neither a URI nor one of the names that stand for a database in memory.
  const path = resolve(file);
  for (const end = performance.now() + OPENING_LIMIT; ; sleep(PAUSE)) {
    try {
      return opened(path);
    } catch (failure) {
      if (!isBusy(failure) || performance.now() >= end) throw cannotOpen(path, failure);
    }
  }
}

function opened(path: string): DatabaseSync {
  // SQLite would wait for a lock by blocking the process, and not even in all cases: who calls it waits.
  const db = new DatabaseSync(path, { timeout: 0, readBigInts: true });
  try {
    migrate(db);
    // With a write-ahead log readers and a writer don't wait for each other. FULL: the log is on the disk before a write
    // is acknowledged, so that it survives a power cut; with NORMAL only checkpoints wait for the disk. fullfsync: macOS
    // otherwise leaves it in the disk's own cache.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    db.exec(TRY_WRITING);
    return db;
  } catch (failure) {
    db.close();
    throw failure;
  }
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { prepareSchema } from '../schema.ts';
import { isBusy } from './errors.ts';
import { checkPlace } from './place.ts';

/** Connects to a file that exists. No call waits while another connection holds a lock. */
export function connect(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'rw');
  const db = new DatabaseSync(url);
  // FULL: a commit is on the disk before it is acknowledged, so that it survives a power cut; with NORMAL only checkpoints
  // wait for the disk. fullfsync: without it macOS leaves the commit in the disk's own cache.
  db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
  return db;
}

/** Connects to a file, creates it if it doesn't exist, and checks its format. */
export function openFile(path: string): DatabaseSync {
  checkPlace(path);
  createFile(path);
  const db = connect(path);
  try {
    prepareSchema(db);
    // With a write-ahead log, readers and a writer don't wait for each other.
    db.exec('PRAGMA journal_mode = WAL');
    tryLocking(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Throws SQLite's error if this user can't write the file. Another connection that is writing is no error. */
function tryLocking(db: DatabaseSync): void {
  try {
    // Needs the lock for writing, and changes nothing. BEGIN IMMEDIATE also succeeds on a read-only file.
    db.exec('UPDATE pets SET name = name WHERE id = 0');
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

/** SQLite gives `-wal` and `-shm` the mode of the database. */
function createFile(path: string): void {
  try {
    // This opens new files only: closing one that a connection of this process has open would drop the connection's locks
    // (POSIX advisory locks, https://sqlite.org/howtocorrupt.html, 2.2).
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It exists, or SQLite reports why it can't be created.
  }
}

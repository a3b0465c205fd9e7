import {
  chmodSync,
  chownSync,
  closeSync,
  createWriteStream,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { LAST_ID, skipIds } from './archive.ts';
import { BUSY, ERROR, isDamage, resultCode, toPortError, unusable } from './failures.ts';
import { identityOf, pathOf, realPathOf, requireFile } from './file.ts';
import { createPartial } from './partial.ts';
import { checkSchema, connect, isOwn, isWhole } from './schema.ts';

const IN_USE = 'another process has it open: stop every process that uses it';
const MOVED = 'it was moved, deleted or replaced meanwhile: stop every process that uses it';
const NOT_WHOLE = 'the copy cannot be used: it is damaged, or not whole';
const UNREADABLE =
  'it is damaged and cannot be locked: stop every process that uses it, and move it and its log (-wal) away';

/**
 * Puts a copy in the place of a file, with that file's owner and mode.
 *
 * @param skipped How many ids are skipped after the last one of the copy and of the file.
 * @returns The next id.
 * @throws DomainError `invalid` if the copy is not whole; StorageMisconfigured, or DomainError `storage_unavailable`, if the
 * file can't be replaced. It is then as it was.
 */
export async function restoreFile(file: string, copy: AsyncIterable<Uint8Array>, skipped: bigint): Promise<bigint> {
  const path = realPathOf(pathOf(file));
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw unusable(path, 'it is a link to no file');
    using replaced = lockReplaced(path);
    using partial = createPartial(path);
    await pipeline(copy, createWriteStream(partial.path, { mode: 0o600 }));
    const next = prepareCopy(partial.path, replaced.lastId, skipped);
    adoptOwner(partial.path, path);
    sync(partial.path);
    // The log has the name of the present file.
    replaced.requireSame();
    replaced.removeLog();
    // The log of a damaged file would be applied to the copy.
    for (const suffix of ['-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
    replaced.requireSame();
    renameSync(partial.path, path);
    sync(dirname(path));
    return next;
  } catch (error) {
    throw toPortError(path, error);
  }
}

/** The file that is replaced. It is locked until this is disposed of. */
interface Replaced extends Disposable {
  readonly lastId: bigint;
  /** Throws if its name is another file's now, in which a process may have acknowledged pets. */
  requireSame(): void;
  /** Writes its log into it, so that it is whole without one. */
  removeLog(): void;
}

/** Locks a file. One that doesn't exist is created for the time of the lock. */
function lockReplaced(path: string): Replaced {
  let isNew = !existsSync(path);
  if (isNew) closeSync(openSync(path, 'wx', 0o600));
  const identity = identityOf(path);
  const isSame = () => identityOf(path) === identity;
  const requireSame = () => {
    if (!isSame()) throw unavailable(new Error(MOVED));
  };
  const db = new DatabaseSync(path, { readBigInts: true, open: false });
  const query = (sql: string) => unlessUnreadable(() => db.prepare(sql).get());
  const dispose = () => {
    // While it is locked.
    if (isNew && isSame()) rmSync(path);
    if (db.isOpen) db.close();
  };
  try {
    requireFile(path);
    const { uid } = statSync(path);
    const user = process.geteuid?.() ?? 0;
    if (user !== 0 && user !== uid) throw unusable(path, `it belongs to user ${uid}: run the command as that user`);
    db.open();
    // This mode excludes readers, too, if it is set before the first access (https://sqlite.org/wal.html).
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    requireSame();
    const isEmpty = query('PRAGMA schema_version')?.['schema_version'] === 0n;
    // Another process may have filled it before the lock.
    isNew &&= isEmpty;
    // An empty file has no mark.
    if (!(isEmpty || isOwn(db))) throw unusable(path, 'it is the database of another program: name another file');
    return {
      lastId: (query(LAST_ID)?.['seq'] ?? 0n) as bigint,
      requireSame,
      // DELETE would make a journal, which this locking mode keeps.
      removeLog: () => void query('PRAGMA journal_mode = MEMORY'),
      [Symbol.dispose]: dispose,
    };
  } catch (error) {
    const isUsed = resultCode(error) === BUSY;
    isNew &&= !isUsed;
    dispose();
    if (isUsed) throw unavailable(new Error(IN_USE, { cause: error }));
    throw isDamage(error) ? unusable(path, UNREADABLE, { cause: error }) : error;
  }
}

/** undefined if what is read is damaged or missing. */
function unlessUnreadable<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isDamage(error) || resultCode(error) === ERROR) return undefined;
    throw error;
  }
}

/**
 * Checks a copy, and raises its counter of ids.
 *
 * @returns The next id.
 */
function prepareCopy(copy: string, lastId: bigint, skipped: bigint): bigint {
  if (statSync(copy).size === 0) throw new DomainError('invalid', 'the copy cannot be used: it is empty');
  try {
    const database = connect(copy, (database) => checkSchema('the copy', database));
    using db = database.db;
    if (!isWhole(copy, database)) throw new DomainError('invalid', NOT_WHOLE);
    const [[own] = [0n]] = database.run([[LAST_ID]]) as [[bigint]?];
    const last = (own > lastId ? own : lastId) + skipped;
    database.run(skipIds(last));
    // Nothing of it stays in a log. The service could not set the mode while a backup reads the file.
    db.exec('PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL');
    return last + 1n;
  } catch (error) {
    if (StorageMisconfigured.is(error)) throw new DomainError('invalid', error.message, { cause: error });
    throw isDamage(error) ? new DomainError('invalid', NOT_WHOLE, { cause: error }) : error;
  }
}

/** Gives a file the owner and the mode of another one. Some file systems allow no change, not even to what they are. */
function adoptOwner(file: string, other: string): void {
  const [own, { uid, gid, mode }] = [statSync(file), statSync(other)];
  if (own.uid !== uid || own.gid !== gid) chownSync(file, uid, gid);
  if (own.mode !== mode) chmodSync(file, mode);
}

/** Makes a file or the names in a folder survive a crash of the system. */
function sync(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

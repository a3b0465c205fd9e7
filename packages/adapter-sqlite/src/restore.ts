import { createWriteStream, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { LAST_ID, skipIds } from './archive.ts';
import { readFailure } from './damage.ts';
import { isLocked, isRejection, kindOf, toPortError, unusable } from './failures.ts';
import { createFile, identityOf, pathOf, realPathOf } from './file.ts';
import { createPartial } from './partial.ts';
import { checkSchema, connect, EXISTING, isOwn, isWhole, LAST_ASSIGNABLE_ID, SCHEMA, uriOf } from './schema.ts';

const IN_USE = 'another process has it open: stop every process that uses it';
const MOVED = 'it was moved, deleted or replaced meanwhile: stop every process that uses it';
const FOREIGN = 'it is the database of another program: name another file';
const MOVE_AWAY = 'move it and its log (-wal) away, and restore again';
const noIdLeft = (last: bigint) =>
  `no id would be left: the last one is ${last}, and none is above ${LAST_ASSIGNABLE_ID}: skip fewer ids`;
const NOT_WHOLE = 'the copy cannot be used: it is damaged, or not whole';

/** A copy is only read: SQLite needs neither locks nor a log for it. */
const IMMUTABLE = { mode: 'ro', immutable: '1' };

/**
 * Replaces the content of a file by that of a copy, in one transaction. A file that doesn't exist is created first, empty.
 *
 * @param skipped How many ids are skipped after the last one of the copy and of the file.
 * @returns The next id.
 * @throws DomainError `invalid` if the copy is not whole, or no id would be left; StorageMisconfigured, or DomainError
 * `storage_unavailable`, if the file can't be replaced. Its content is then as it was.
 */
export async function restoreFile(file: string, copy: AsyncIterable<Uint8Array>, skipped: bigint): Promise<bigint> {
  const named = realPathOf(pathOf(file));
  try {
    createFile(named);
    // A link may have led to no file.
    const path = realPathOf(named);
    const identity = identityOf(path);
    const checkIdentity = () => {
      if (identityOf(path) !== identity) throw unavailable(new Error(MOVED));
    };
    using db = lock(path);
    using partial = createPartial(path, 'restore');
    // 'r+' creates no file: the stream may open it after an error, when it is removed.
    await pipeline(copy, createWriteStream(partial.path, { flags: 'r+' }));
    const copied = await attachCopy(db, partial.path);
    // Its name, and so its log, may be another file's now, in which a process has acknowledged pets.
    checkIdentity();
    db.exec('BEGIN');
    const last = replaceContent(db, copied, skipped);
    checkIdentity();
    db.exec('COMMIT');
    return last + 1n;
  } catch (error) {
    if (isLocked(error)) throw unavailable(new Error(IN_USE, { cause: error }));
    if (!isRejection(error)) throw toPortError(named, error);
    const failure = kindOf(error).isDamage ? await readFailure(named) : null;
    if (failure !== null) throw unavailable(failure);
    throw unusable(named, `SQLite cannot replace its content (${error.message}): ${MOVE_AWAY}`, { cause: error });
  }
}

/** Connects to a file that no other process can open until the connection is closed. */
function lock(path: string): DatabaseSync {
  const options = { readBigInts: true, enableForeignKeyConstraints: false, open: false };
  const db = new DatabaseSync(uriOf(path, EXISTING), options);
  try {
    db.open();
    // This mode excludes readers, too, if it is set before the first access (https://sqlite.org/wal.html).
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    const { schema_version: version } = db.prepare('PRAGMA schema_version').get() ?? {};
    // An empty file has no mark.
    if (version !== 0n && !isOwn(db)) throw unusable(path, FOREIGN);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA fullfsync = ON');
    return db;
  } catch (error) {
    if (db.isOpen) db.close();
    throw error;
  }
}

/**
 * @returns The last id that the copy has assigned or skipped.
 * @throws DomainError `invalid`
 */
async function attachCopy(db: DatabaseSync, path: string): Promise<bigint> {
  if (statSync(path).size === 0) throw new DomainError('invalid', 'the copy cannot be used: it is empty');
  try {
    const database = connect(path, (database) => checkSchema('the copy', database), IMMUTABLE);
    using _ = database.db;
    if (!isWhole(path, database)) throw await notWhole(path);
    db.prepare('ATTACH ? AS copy').run(uriOf(path, IMMUTABLE));
    return database.run([[LAST_ID]])[0]?.[0] as bigint;
  } catch (error) {
    // As a cause it would blame the setting.
    if (StorageMisconfigured.is(error)) throw new DomainError('invalid', error.message);
    if (!isRejection(error)) throw error;
    if (kindOf(error).isDamage) throw await notWhole(path, { cause: error });
    throw new DomainError('invalid', `the copy cannot be used: ${error.message}`, { cause: error });
  }
}

/** The disk's error if it fails to read what it has just stored. */
const notWhole = async (path: string, options?: ErrorOptions) =>
  (await readFailure(path)) ?? new DomainError('invalid', NOT_WHOLE, options);

/**
 * Replaces tables of any format.
 *
 * @param copied The last id of the copy.
 * @returns The last id that is skipped.
 * @throws DomainError `invalid` if no id would be left.
 */
function replaceContent(db: DatabaseSync, copied: bigint, skipped: bigint): bigint {
  // An empty file has no tables: then this is the copy's.
  const own = db.prepare(LAST_ID).get()?.['last'] as bigint;
  const before = own > copied ? own : copied;
  const last = before + skipped;
  if (last >= LAST_ASSIGNABLE_ID) throw new DomainError('invalid', noIdLeft(before));
  db.exec(`DROP TABLE IF EXISTS main.pets; DROP TABLE IF EXISTS main.api_keys; ${SCHEMA}`);
  // Between equal empty tables SQLite moves rows and indexes without decoding them.
  db.exec('INSERT INTO main.pets SELECT * FROM copy.pets; INSERT INTO main.api_keys SELECT * FROM copy.api_keys');
  for (const [sql, ...values] of skipIds(last)) db.prepare(sql).run(...values);
  return last;
}

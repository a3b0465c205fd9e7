import { setTimeout as sleep } from 'node:timers/promises';
import { createBatches, createResource } from '@animal-store/adapter-kit';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { BUSY, ERROR, isDamage, resultCode, toPortError, whenUnlocked } from './failures.ts';
import { placeOf } from './file.ts';
import { checkSchema, openDatabase, type Row, type Statement } from './schema.ts';
import { createWriterThread, requireProgram } from './thread.ts';

/** How many calls share a transaction or a turn at most. */
const BATCH = { maxItems: 1_000 };

/** How long the opening waits for the thread, in milliseconds. A busy machine takes seconds; a disk that hangs, for ever. */
const START_TIMEOUT = 8_800;

/** One open file: it is read in this thread and written in another one (thread.ts). Its calls are those of the ports. */
export interface File {
  /**
   * Reads what is committed. Equal reads that are called in one turn of the event loop read once, and share the result.
   *
   * @param decode The same function for the same statement.
   */
  read<T>(decode: (rows: readonly Row[]) => T, ...statement: Statement): Promise<T>;

  /** Runs statements until one of them has rows. Resolves to these rows when everything is on the disk. */
  write(...statements: Statement[]): Promise<readonly Row[]>;

  close(): Promise<void>;
}

/**
 * `createResource` passes failures of reads and of the thread to `toPortError`, except for a StorageMisconfigured, which it makes
 * `unavailable` itself. A write without a reply may be committed.
 *
 * | failure                      | which reads fail                       | which writes fail                             |
 * | ---------------------------- | -------------------------------------- | --------------------------------------------- |
 * | a lock of another connection | all of the turn, after tries for 1.5 s | the transaction, after tries for 1.5 s        |
 * | a missing table or index     | all of the turn, if one needs it       | the transaction                               |
 * | damage of the file           | those that meet it                     | the transaction; all, once a call has met it  |
 * | a violated constraint        |                                        | this one; the transaction goes on             |
 * | a replaced file or log       |                                        | the transaction                               |
 * | another error                | this one                               | the transaction                               |
 * | the thread ends              |                                        | the transaction; the next one starts a thread |
 * | no reply for 2 s             |                                        | others until the reply; its own after 2.2 s   |
 *
 * @param willWrite Starts the thread now. Otherwise the first write does, and on a busy machine waits for it as long as a call.
 * @throws StorageMisconfigured if the operator must do something. A file that can't be opened now is opened later.
 */
export async function openFile(path: string, willWrite: boolean): Promise<File> {
  requireProgram();
  /** Nothing more is written to a damaged file: it would be lost with the next backup that is restored. */
  let damage: unknown = null;

  function errorOf(failure: unknown): unknown {
    const error = toPortError(path, failure);
    if (isDamage(failure)) damage ??= error;
    return error;
  }

  const file = createResource({
    open: () => open(path),
    close: ({ close }) => close(),
    // SQLite has no connection to lose: a failed call leaves the file open.
    isLost: () => false,
    toPortError: errorOf,
  });
  try {
    const { startWriter } = await file.call(async (opened) => opened);
    if (willWrite) await Promise.race([startWriter(), sleep(START_TIMEOUT, null, { ref: false })]);
  } catch (error) {
    const { cause } = error as Error;
    if (StorageMisconfigured.is(cause)) throw cause;
    // The first call reports other failures.
  }
  return {
    read: (...read) => file.call((opened) => opened.read(read as Read) as Promise<never>),
    write: (...write) =>
      file.call((opened) => {
        if (damage !== null) throw damage;
        return opened.write(write);
      }),
    close: file.close,
  };
}

type Read = readonly [decode: (rows: readonly Row[]) => unknown, ...statement: Statement];

/** Opens a file for this thread, which reads, and for the one that writes. */
async function open(path: string) {
  const reader = await whenUnlocked(() => openDatabase(path));
  const writer = createWriterThread(placeOf(path), reader.db);

  /** The result of a read, or its error. Throws an error that all reads of the turn share. */
  function resultOf([decode, ...statement]: Read): unknown {
    try {
      return decode(reader.run([statement]));
    } catch (error) {
      if (resultCode(error) === BUSY) throw error;
      if (resultCode(error) === ERROR) checkSchema(path, reader);
      return error;
    }
  }

  /** Runs the reads of a turn, equal ones once. */
  function resultsOf(reads: readonly Read[]): readonly unknown[] {
    // The storage may have been closed while they waited.
    if (!reader.db.isOpen) throw unavailable();
    const results = new Map<string, unknown>();
    return reads.map((read) => {
      const key = read.slice(1).join();
      if (!results.has(key)) results.set(key, resultOf(read));
      return results.get(key);
    });
  }

  return {
    read: createBatches((reads: readonly Read[]) => whenUnlocked(() => resultsOf(reads)), BATCH),

    /** Group commit: writes that arrive during a commit are the next transaction. */
    write: createBatches(writer.commit, BATCH),

    startWriter: () => writer.commit([]),
    close: writer.close,
  };
}

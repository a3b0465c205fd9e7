import {
  BUDGET,
  type Call,
  createBatches,
  createResource,
  type Limits,
  type Resource,
  type ResourceOptions,
  withTimeout,
} from '@animal-store/adapter-kit';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { examine, examineClosed } from './damage.ts';
import { kindOf, toPortError, whenUnlocked } from './failures.ts';
import { placeOf } from './file.ts';
import { CHECK, checkSchema, openDatabase, type Row, type Statement } from './schema.ts';
import { createWriterThread, requireProgram } from './thread.ts';
import type { Write } from './writer.ts';

/** How many calls share a transaction or a turn at most. */
const BATCH = { maxItems: 1_000 };

/** The time between two examinations of a file that can't be read, in milliseconds. */
const EXAMINATION_PAUSE = 1_000;

/** How long the opening waits for the thread. A busy machine takes seconds; a disk that hangs, for ever. */
const START_TIMEOUT = BUDGET.open - BUDGET.lock;

/** One open file: it is read in this thread and written in another one (thread.ts). */
export interface File {
  read(read: Read, limits: Limits): Promise<unknown>;
  write(write: Write, limits: Limits): Promise<readonly Row[]>;

  /** Starts the thread that writes, which the first write does otherwise. */
  startWriter(): Promise<unknown>;

  /** Learns why SQLite has reported damage: damage.ts. */
  examine(): ReturnType<typeof examine>;

  close(): Promise<void>;
}

/**
 * How the file of a storage is opened and closed. What its errors mean stands in failures.ts; besides:
 *
 * | failure                       | which reads fail   | which writes fail                             |
 * | ----------------------------- | ------------------ | --------------------------------------------- |
 * | damage of the file            | those that meet it | the transaction; all, once a call has met it  |
 * | a replaced file               | none               | the transaction                               |
 * | the thread ends               | none               | the transaction; the next one starts a thread |
 * | no reply in the time of calls | none               | its own, and others until the reply           |
 *
 * A write without a reply may be committed.
 */
export function createOpening(path: string): ResourceOptions<File> {
  /** Why nothing is written: it would be lost with the next backup that is restored. null: no call has met damage. */
  let damage: unknown = null;
  let isProven = false;
  /** When a file that was found unreadable may be examined again, on the clock of `performance.now`. */
  let nextExamination = 0;

  /** Learns, beside the calls, whether the file is damaged, or its disk fails to read it, or is whole again. */
  async function examineAgain({ examine }: File): Promise<void> {
    if (isProven || performance.now() < nextExamination) return;
    nextExamination = Number.POSITIVE_INFINITY;
    try {
      const found = await examine();
      damage = found === null ? null : unavailable(found.reason);
      isProven = found?.isProven ?? false;
    } catch {
      // It could not be examined, because of a lock for example.
    }
    nextExamination = performance.now() + EXAMINATION_PAUSE;
  }

  let file: File | null = null;
  return {
    async open() {
      const opened = await openFile(path).catch(async (error: unknown) => {
        if (!kindOf(error).isDamage) throw error;
        throw (await examineClosed(path))?.reason ?? error;
      });
      file = {
        ...opened,
        write(...given) {
          if (damage === null) return opened.write(...given);
          examineAgain(opened);
          throw damage;
        },
      };
      return file;
    },
    close: (opened) => opened.close(),
    // SQLite has no connection to lose: a failed call leaves the file open.
    isLost: () => false,
    toPortError(failure) {
      const error = toPortError(path, failure);
      if (!kindOf(failure).isDamage || file === null) return error;
      if (damage === null) {
        damage = unavailable(failure);
        nextExamination = 0;
        examineAgain(file);
      }
      return damage;
    },
  };
}

/**
 * Opens a file now. One that can't be opened now is opened by a later call.
 *
 * @param willWrite Starts the thread now. Otherwise the first write does, and on a busy machine waits for it as long as a call.
 * @throws StorageMisconfigured if the operator must do something.
 */
export async function openAtStart(opening: ResourceOptions<File>, willWrite: boolean): Promise<Resource<File>> {
  requireProgram();
  const resource = createResource(opening);
  try {
    const { startWriter } = await resource.call(async ({ connection }) => connection);
    if (willWrite) await withTimeout(startWriter(), START_TIMEOUT);
  } catch (error) {
    const { cause } = error as Error;
    if (StorageMisconfigured.is(cause)) throw cause;
    // The first call reports other failures.
  }
  return resource;
}

type Decode<T> = (rows: readonly Row[]) => T;
type Read = readonly [Decode<unknown>, ...statement: Statement];

/**
 * Reads what is committed. Equal reads that are called in one turn of the event loop read once, and share the result.
 *
 * @param decode The same function for the same statement.
 */
export const read = <T>(call: Call<File>, decode: Decode<T>, ...statement: Statement) =>
  call.connection.read([decode, ...statement], call) as Promise<T>;

/** Runs statements until one of them has rows. Resolves to these rows when everything is on the disk. */
export const write = (call: Call<File>, ...statements: Write) => call.connection.write(statements, call);

/** Opens a file for this thread, which reads, and for the one that writes. */
async function openFile(path: string): Promise<File> {
  const reader = await whenUnlocked(() => openDatabase(path));
  const writer = createWriterThread(placeOf(path), reader.db);
  const closing = new AbortController();

  /** The result of a read, or its error. Throws an error that all reads of the turn share. */
  function resultOf([decode, ...statement]: Read, results: Map<string, unknown>): unknown {
    try {
      // It throws if a value has no text.
      const key = statement.join();
      if (!results.has(key)) results.set(key, decode(reader.run([statement])));
      return results.get(key);
    } catch (error) {
      const { reads } = kindOf(error);
      if (reads === 'turn') throw error;
      if (reads === 'turn if the schema has changed') checkSchema(path, reader);
      return error;
    }
  }

  /** Runs the reads of a turn, equal ones once. */
  function resultsOf(reads: readonly Read[]): readonly unknown[] {
    // The storage may have been closed while they waited.
    if (!reader.db.isOpen) throw unavailable(new Error('the file is closed'));
    const results = new Map<string, unknown>();
    return reads.map((read) => resultOf(read, results));
  }

  return {
    read: createBatches((reads: readonly Read[]) => whenUnlocked(() => resultsOf(reads)), BATCH),
    // Group commit: writes that arrive during a commit are the next transaction.
    write: createBatches(writer.commit, BATCH),
    startWriter: () => writer.commit([], { deadline: Number.POSITIVE_INFINITY }),
    examine: () =>
      examine(
        path,
        async () => {
          const outcome = await writer.runAlone(CHECK);
          if (outcome instanceof Error) throw outcome;
          return String(outcome[0]?.[0]);
        },
        closing.signal,
      ),
    close() {
      closing.abort();
      return writer.close();
    },
  };
}

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createBatches, createResource } from '@animal-store/adapter-kit';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { BUSY, ERROR, isDamage, reasonForOperator, resultCode, unusable, whenUnlocked } from './failures.ts';
import { identityOf, partsOf } from './file.ts';
import { checkSchema, openFile, type Row, type Statement } from './schema.ts';
import type { Outcome, Place, Write } from './writer.ts';

/** How many calls share a transaction or a turn at most. */
const BATCH = { maxItems: 1_000 };

/** One open file: it is read in this thread and written in another. Its calls are those of the ports. */
export interface Connection {
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

/** The program of the thread: a source or a built module like this one. In some bundles a module has no URL. */
const EXTENSION = extname(URL.parse(String(import.meta.url))?.pathname ?? '');
const WRITER = URL.parse(`./writer${EXTENSION}`, import.meta.url);

type Read = readonly [decode: (rows: readonly Row[]) => unknown, ...statement: Statement];

/** How often the opening is waited for, each time as long as a call takes at most. */
const OPENING_WAITS = 4;

/**
 * @param willWrite Whether the thread starts now, and not with the first write: on a busy machine that takes as long as a call.
 * @throws StorageMisconfigured if the operator must do something. A file that can't be opened now is opened later.
 */
export async function openConnection(path: string, willWrite: boolean): Promise<Connection> {
  if (WRITER === null || !existsSync(WRITER)) {
    throw new StorageMisconfigured("the writer's module is missing: keep @animal-store/adapter-sqlite out of bundles");
  }
  /** Nothing more is written to a damaged file: it would be lost with the next backup that is restored. */
  let damage: unknown = null;

  function toPortError(failure: unknown): unknown {
    const reason = reasonForOperator(failure);
    if (reason === undefined) return failure;
    if (reason === null) return unavailable(failure);
    const error = unavailable(unusable(path, reason, { cause: failure }));
    if (isDamage(failure)) damage ??= error;
    return error;
  }

  const file = createResource({
    async open() {
      const opened = await whenUnlocked(() => open(path));
      // The first write reports what fails.
      if (willWrite) await opened.startWriter().catch(() => {});
      return opened;
    },
    close: (opened) => opened.close(),
    isLost: () => false,
    toPortError,
  });
  for (let waited = 0; waited < OPENING_WAITS; waited += 1) {
    const cause = await file.call(async () => null).catch((error) => error.cause);
    if (StorageMisconfigured.is(cause)) throw cause;
    if (cause?.name !== 'TimeoutError') break;
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

function open(path: string) {
  const database = openFile(path);
  const { db, run } = database;
  const files = partsOf(path);
  const place = { path, files, identity: identityOf(files) };
  let writer: ReturnType<typeof startWriter> | null = null;
  let isClosing = false;

  function result([decode, ...statement]: Read): unknown {
    try {
      return decode(run([statement]));
    } catch (error) {
      if (resultCode(error) === BUSY) throw error;
      // A missing table fails the other reads of this turn, too.
      if (resultCode(error) === ERROR) checkSchema(path, database);
      return error;
    }
  }

  return {
    async startWriter(): Promise<void> {
      writer = startWriter(place);
      await writer.commit([]);
    },

    read: createBatches<Read, unknown>(
      (reads) =>
        whenUnlocked(() => {
          if (!db.isOpen) throw unavailable();
          const results = new Map<string, unknown>();
          return reads.map((read) => {
            const key = read.slice(1).join();
            if (!results.has(key)) results.set(key, result(read));
            return results.get(key);
          });
        }),
      BATCH,
    ),

    /** Group commit: writes that arrive during a commit are the next transaction. */
    write: createBatches<Write, readonly Row[]>((writes) => {
      if (isClosing) throw unavailable();
      if (writer?.hasEnded() !== false) writer = startWriter(place);
      return writer.commit(writes);
    }, BATCH),

    async close(): Promise<void> {
      isClosing = true;
      if (writer === null) db.close();
      else await writer.end(() => db.close());
    },
  };
}

/** Starts a thread that commits, so that no other thread waits for the disk. */
function startWriter(place: Place) {
  // Some options of the process, such as --input-type, are errors in a thread.
  const execArgv = EXTENSION === '.ts' ? ['--conditions=@animal-store/source'] : [];
  const worker = new Worker(WRITER as URL, { name: 'sqlite writer', workerData: place, execArgv });
  let pending: PromiseWithResolvers<readonly Outcome[]> | null = null;
  let hasEnded = false;

  const ended = (failure: unknown) => {
    hasEnded = true;
    pending?.reject(failure);
  };
  worker.on('message', (outcomes: readonly Outcome[]) => {
    pending?.resolve(outcomes);
    pending = null;
  });
  worker.on('error', ended);
  worker.on('exit', (code) => ended(unavailable(new Error(`the writer thread ended with code ${code}`))));

  return {
    /** Commits writes as one transaction. While one is being committed, another is rejected. */
    async commit(writes: readonly Write[]): Promise<readonly (readonly Row[] | Error)[]> {
      if (pending !== null) throw unavailable(new Error('the disk takes too long to write'));
      pending = Promise.withResolvers();
      worker.postMessage(writes);
      const outcomes = await pending.promise;
      return outcomes.map((outcome) => {
        if (!('message' in outcome)) return outcome;
        const { name, message } = outcome;
        return name === 'StorageMisconfigured'
          ? new StorageMisconfigured(message)
          : Object.assign(new Error(), outcome);
      });
    },

    hasEnded: () => hasEnded,

    /**
     * Waits for the pending transaction, closes the reading connection, then ends the thread. The connection that is closed
     * last copies the log into the database and deletes it, so it must be the thread's. The transaction comes first, because
     * a first one still checks that the log exists.
     */
    async end(closeOther: () => void): Promise<void> {
      await pending?.promise.catch(() => {});
      closeOther();
      if (hasEnded) return;
      worker.postMessage(null);
      await once(worker, 'exit');
    },
  };
}

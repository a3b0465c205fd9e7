// The thread of the writer, as the thread that reads sees it. Its program is writer.ts.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { Limits } from '@animal-store/adapter-kit';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import type { Place } from './file.ts';
import type { Row } from './schema.ts';
import type { Outcome, Transaction, Write } from './writer.ts';

/** A source or a built module like this one. In some bundles a module has no URL. */
const EXTENSION = extname(URL.parse(String(import.meta.url))?.pathname ?? '');
const PROGRAM = URL.parse(`./writer${EXTENSION}`, import.meta.url);

/** @throws StorageMisconfigured if the program is missing. */
export function requireProgram(): void {
  if (PROGRAM !== null && existsSync(PROGRAM)) return;
  throw new StorageMisconfigured("the writer's module is missing: keep @animal-store/adapter-sqlite out of bundles");
}

/** One thread, which commits one transaction at a time. */
interface Thread {
  readonly worker: Worker;
  /** The transaction that has no reply yet. */
  pending: PromiseWithResolvers<readonly Outcome[]> | null;
}

/**
 * Writes to a place in a thread, so that no other thread waits for the disk. It starts with the first transaction.
 *
 * @param reader The connection that reads. Once it is closed, writes that still wait for their transaction fail.
 */
export function createWriterThread(place: Place, reader: DatabaseSync) {
  /** The thread that runs, if one does. */
  let thread: Thread | null = null;

  function startThread(): Thread {
    // Some options of the process, such as --input-type, are errors in a thread.
    const execArgv = EXTENSION === '.ts' ? ['--conditions=@animal-store/source'] : [];
    const worker = new Worker(PROGRAM as URL, { name: 'sqlite writer', workerData: place, execArgv });
    const started: Thread = { worker, pending: null };
    const onEnd = (failure: unknown) => {
      // 'exit' follows 'error', when the next thread may have started.
      if (thread === started) thread = null;
      started.pending?.reject(failure);
    };
    worker.on('error', onEnd);
    worker.on('exit', (code) => onEnd(unavailable(new Error(`the writer thread ended with code ${code}`))));
    worker.on('message', (reply: readonly Outcome[]) => {
      started.pending?.resolve(reply);
      started.pending = null;
    });
    return started;
  }

  /** Commits writes as one transaction, in a new thread if the last one has ended. */
  async function commit(
    writes: readonly Write[],
    { deadline }: Pick<Limits, 'deadline'>,
  ): Promise<readonly (readonly Row[] | Error)[]> {
    if (!reader.isOpen) throw unavailable(new Error('the file is closed'));
    thread ??= startThread();
    if (thread.pending !== null) throw unavailable(new Error('the disk takes too long to write'));
    // It throws if a value can't be sent.
    thread.worker.postMessage({ writes, deadline: performance.timeOrigin + deadline } satisfies Transaction);
    thread.pending = Promise.withResolvers();
    return (await thread.pending.promise).map(revived);
  }

  return {
    commit,

    /** Runs SQL alone when the present transaction has its reply, however long that takes. */
    async runAlone(sql: string): Promise<readonly Row[] | Error> {
      while (thread?.pending) await thread.pending.promise.catch(() => {});
      const [outcome] = await commit([[[sql]]], { deadline: Number.POSITIVE_INFINITY });
      return outcome as readonly Row[] | Error;
    },

    /**
     * 1. Waits for the present transaction: a first one still checks that the log exists, which step 3 deletes.
     * 2. Closes the reader. The connection that is closed last copies the log into the database and deletes it, which may take
     *    long, so it must be the thread's.
     * 3. Ends the thread, which closes its connection. While the disk blocks the thread, Node.js can't end it: even
     *    `process.exit` waits for it.
     */
    async close(): Promise<void> {
      await thread?.pending?.promise.catch(() => {});
      reader.close();
      if (thread === null) return;
      thread.worker.postMessage(null);
      await once(thread.worker, 'exit');
    },
  };
}

/** The rows, or the error whose members the thread has sent. */
function revived(outcome: Outcome): readonly Row[] | Error {
  if (!('message' in outcome)) return outcome;
  const { name, message } = outcome;
  return name === 'StorageMisconfigured' ? new StorageMisconfigured(message) : Object.assign(new Error(), outcome);
}

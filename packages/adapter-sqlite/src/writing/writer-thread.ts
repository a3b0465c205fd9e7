import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { unavailable } from '@animal-store/domain/ports';
import { fromMessage } from '../connection/errors.ts';
import type { Committed, Write } from './transaction.ts';
import type { Reply, WriterData } from './writer.ts';

/** The program of the thread, a source or a built module like this one. */
const PROGRAM = new URL(`./writer${extname(import.meta.url)}`, import.meta.url);

/** A thread with a connection of its own, on which it commits writes, so that no other thread waits for the disk. */
export interface WriterThread {
  /**
   * Commits writes as one transaction. Called again only after the promise is settled. Starts the thread if there is none.
   *
   * Rejects with SQLite's error if nothing was committed. Rejects with DomainError `storage_unavailable` if the thread ended:
   * the writes may be committed.
   */
  commit(writes: readonly Write[]): Promise<Committed>;

  /** Closes the connection and ends the thread, or stops waiting for that after a time in whole milliseconds. */
  end(timeout: number): Promise<void>;
}

/** @param data Called when a thread is started. */
export function createWriterThread(data: () => WriterData, program: URL = PROGRAM): WriterThread {
  let worker: Worker | null = null;
  let pending = Promise.withResolvers<Committed>();

  function start(): Worker {
    // Some options of the process, such as --input-type, are errors in a thread.
    const started = new Worker(program, { name: 'sqlite writer', workerData: data(), execArgv: [] });
    const ended = (reason: unknown) => {
      if (worker !== started) return;
      worker = null;
      pending.reject(unavailable(reason));
    };
    started.on('message', (reply: Reply) => {
      // Replies and errors arrive through two ports.
      if (worker !== started) return;
      if ('error' in reply) {
        pending.reject(fromMessage(reply.error));
        return;
      }
      const errors = Array.from(reply.errors, ([index, message]) => [index, fromMessage(message)] as const);
      pending.resolve({ results: reply.results, errors: new Map(errors) });
    });
    started.on('error', ended);
    started.on('exit', (code) => ended(new Error(`the writer thread ended with code ${code}`)));
    // This comes last, because a listener refs the thread. A timer of group commit keeps the process alive during a write.
    started.unref();
    return started;
  }

  return {
    async commit(writes) {
      try {
        worker ??= start();
      } catch (error) {
        throw unavailable(error);
      }
      worker.postMessage(writes);
      pending = Promise.withResolvers();
      return pending.promise;
    },

    async end(timeout) {
      const ending = worker;
      if (ending === null) return;
      ending.ref();
      ending.postMessage(null);
      await once(ending, 'exit', { signal: AbortSignal.timeout(timeout) }).catch(() => {});
      // This is not awaited, because a thread that waits for the disk can't be ended.
      void ending.terminate();
    },
  };
}

// The program of the writer thread. It must not import a package: the sources of a package are only found with the options
// that the process was started with.

import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorMessage, isBusy, toMessage } from '../connection/errors.ts';
import { type FileIdentity, holdFiles } from '../connection/file-identity.ts';
import { connect } from '../connection/open-file.ts';
import { TIME_LIMITS } from '../time-limits.ts';
import { type Committed, prepareTransaction, type Transaction, type Write } from './transaction.ts';

/** The data that the thread is started with. */
export interface WriterData {
  /** The absolute path of a file of a known format. */
  readonly path: string;
  /** Nothing is committed to other files. */
  readonly identity: FileIdentity;
}

/** The thread's reply to a batch of writes: the results, or the error if nothing was committed. */
export type Reply = Committed<ErrorMessage> | { readonly error: ErrorMessage };

const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));

function blockThread(milliseconds: number): void {
  Atomics.wait(NEVER_NOTIFIED, 0, 0, milliseconds);
}

/** Commits writes on a connection of its own, which the first of them opens. Tests replace `openDatabase` and `pause`. */
export function createWriter({ path, identity }: WriterData, openDatabase = connect, pause = blockThread) {
  let opened: { readonly transaction: Transaction; close(): void } | null = null;

  function open(): NonNullable<typeof opened> {
    const files = holdFiles(path, identity);
    let db: DatabaseSync | null = null;
    const close = () => {
      db?.close();
      files.close();
    };
    try {
      db = openDatabase(path);
      return { transaction: prepareTransaction(db, files.check), close };
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Blocks this thread while another connection holds the lock. */
  function commitWhenUnlocked(writes: readonly Write[]): Committed {
    const end = performance.now() + TIME_LIMITS.lock;
    // The pauses of SQLite's own busy handler grow to 100 ms, in which other processes take the lock again and again.
    let duration: number = TIME_LIMITS.lockRetryMin;
    for (;;) {
      try {
        opened ??= open();
        return opened.transaction(writes);
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw error;
        pause(duration);
        duration = Math.min(2 * duration, TIME_LIMITS.lockRetryMax);
      }
    }
  }

  return {
    commit(writes: readonly Write[]): Reply {
      try {
        const { results, errors } = commitWhenUnlocked(writes);
        return { results, errors: new Map(Array.from(errors, ([index, error]) => [index, toMessage(error)])) };
      } catch (error) {
        return { error: toMessage(error) };
      }
    },

    close: () => opened?.close(),
  };
}

if (parentPort !== null) {
  const port = parentPort;
  const { commit, close } = createWriter(workerData);
  port.on('message', (writes: readonly Write[] | null) => {
    if (writes !== null) {
      port.postMessage(commit(writes));
      return;
    }
    close();
    port.close();
  });
}

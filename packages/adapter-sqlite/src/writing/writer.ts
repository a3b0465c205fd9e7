// The program of the writer thread. It must not import a package: the sources of a package are only found with the options
// that the process was started with.

import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorMessage, toMessage } from '../connection/errors.ts';
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

/** Commits writes on a connection of its own, which the first of them opens. Tests replace `openDatabase`. */
export function createWriter({ path, identity }: WriterData, openDatabase = connect) {
  let opened: { readonly transaction: Transaction; close(): void } | null = null;

  function open(): NonNullable<typeof opened> {
    const files = holdFiles(path, identity);
    let db: DatabaseSync | null = null;
    const close = () => {
      db?.close();
      files.close();
    };
    try {
      db = openDatabase(path, TIME_LIMITS.lock);
      return { transaction: prepareTransaction(db, files.check), close };
    } catch (error) {
      close();
      throw error;
    }
  }

  return {
    commit(writes: readonly Write[]): Reply {
      try {
        opened ??= open();
        const { results, errors } = opened.transaction(writes);
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

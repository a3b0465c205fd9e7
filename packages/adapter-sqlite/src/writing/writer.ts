// The program of the writer thread. It must not import a package: the sources of a package are only found with the options
// that the process was started with.

import type { DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { holdFiles } from '../database/file-identity.ts';
import { connect } from '../database/open-database.ts';
import { type Reply, toMessage, type WriterData } from './messages.ts';
import { prepareTransaction, type Transaction } from './transaction.ts';
import type { Write } from './writes.ts';

/** How long the thread waits for a lock before it replies, in milliseconds. */
const BUSY_TIMEOUT = 100;

const port = parentPort as MessagePort;
const { path, identity } = workerData as WriterData;

let opened: { readonly transaction: Transaction; close(): void } | null = null;

function open(): NonNullable<typeof opened> {
  const files = holdFiles(path, identity);
  let db: DatabaseSync | null = null;
  const close = () => {
    db?.close();
    files.close();
  };
  try {
    db = connect(path, BUSY_TIMEOUT);
    return { transaction: prepareTransaction(db, files.check), close };
  } catch (error) {
    close();
    throw error;
  }
}

function commit(writes: readonly Write[]): Reply {
  try {
    opened ??= open();
    const { results, errors } = opened.transaction(writes);
    return { results, errors: new Map(Array.from(errors, ([index, error]) => [index, toMessage(error)])) };
  } catch (error) {
    return { error: toMessage(error) };
  }
}

port.on('message', (writes: readonly Write[] | null) => {
  if (writes !== null) {
    port.postMessage(commit(writes));
    return;
  }
  opened?.close();
  port.close();
});

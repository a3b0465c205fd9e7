// The thread of the writer, as the thread that reads sees it.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import type { Row } from './schema.ts';
import type { Outcome, Place, Write } from './writer.ts';

/** A source or a built module like this one. In some bundles a module has no URL. */
const EXTENSION = extname(URL.parse(String(import.meta.url))?.pathname ?? '');
const PROGRAM = URL.parse(`./writer${EXTENSION}`, import.meta.url);

/** @throws StorageMisconfigured if the program is missing. */
export function requireProgram(): void {
  if (PROGRAM !== null && existsSync(PROGRAM)) return;
  throw new StorageMisconfigured("the writer's module is missing: keep @animal-store/adapter-sqlite out of bundles");
}

type Reply = readonly Outcome[];

type State =
  | { readonly name: 'absent' }
  | { readonly name: 'idle'; readonly worker: Worker }
  | { readonly name: 'committing'; readonly worker: Worker; readonly reply: PromiseWithResolvers<Reply> }
  | { readonly name: 'closed' };

/** The thread that writes to a place, so that no other thread waits for the disk. It starts with the first commit. */
export function createWriterThread(place: Place) {
  let state: State = { name: 'absent' };

  function start(): Worker {
    // Some options of the process, such as --input-type, are errors in a thread.
    const execArgv = EXTENSION === '.ts' ? ['--conditions=@animal-store/source'] : [];
    const worker = new Worker(PROGRAM as URL, { name: 'sqlite writer', workerData: place, execArgv });
    // After an error the next thread may have started before this one has sent its last events.
    worker.on('message', (reply: Reply) => {
      if (!(state.name === 'committing' && state.worker === worker)) return;
      state.reply.resolve(reply);
      state = { name: 'idle', worker };
    });
    const onEnd = (failure: unknown) => {
      if (!('worker' in state && state.worker === worker)) return;
      if (state.name === 'committing') state.reply.reject(failure);
      state = { name: 'absent' };
    };
    worker.on('error', onEnd);
    worker.on('exit', (code) => onEnd(unavailable(new Error(`the writer thread ended with code ${code}`))));
    return worker;
  }

  return {
    /** Commits writes as one transaction, in a new thread if the last one has ended. */
    async commit(writes: readonly Write[]): Promise<readonly (readonly Row[] | Error)[]> {
      if (state.name === 'closed') throw unavailable();
      if (state.name === 'committing') throw unavailable(new Error('the disk takes too long to write'));
      const worker = state.name === 'idle' ? state.worker : start();
      const reply = Promise.withResolvers<Reply>();
      state = { name: 'committing', worker, reply };
      worker.postMessage(writes);
      return (await reply.promise).map(revived);
    },

    /**
     * Waits for the pending transaction, closes the reading connection, then ends the thread. The connection that is closed
     * last copies the log into the database and deletes it, so it must be the thread's. The transaction comes first, because
     * a first one still checks that the log exists.
     */
    async close(closeReader: () => void): Promise<void> {
      if (state.name === 'committing') await state.reply.promise.catch(() => {});
      const last = state;
      state = { name: 'closed' };
      closeReader();
      if (last.name !== 'idle') return;
      last.worker.postMessage(null);
      await once(last.worker, 'exit');
    },
  };
}

/** The rows, or the error whose members the thread has sent. */
function revived(outcome: Outcome): readonly Row[] | Error {
  if (!('message' in outcome)) return outcome;
  const { name, message } = outcome;
  return name === 'StorageMisconfigured' ? new StorageMisconfigured(message) : Object.assign(new Error(), outcome);
}

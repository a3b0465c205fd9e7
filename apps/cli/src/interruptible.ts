import { onFirstSignal } from '@animal-store/app-kit/run-application';
import { CommandFailed } from './context.ts';
import { MESSAGES } from './messages.ts';

const EXIT_INTERRUPTED = 130;

/** Runs work. Meanwhile the first Ctrl-C does not end the process, but aborts the work, with the error of the command. */
export function interruptible<R>(work: (stopping: AbortController) => Promise<R>): Promise<R> {
  const stopping = new AbortController();
  const endWait = onFirstSignal(['SIGINT'], () =>
    stopping.abort(new CommandFailed(MESSAGES.interrupted, EXIT_INTERRUPTED)),
  );
  return work(stopping).finally(endWait);
}

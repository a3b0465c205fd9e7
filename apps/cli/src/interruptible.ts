import { onFirstSignal } from '@animal-store/app-kit/run-application';
import { CommandFailed } from './context.ts';
import { MESSAGES } from './messages.ts';

export const EXIT_INTERRUPTED = 130;

/**
 * Runs work. Meanwhile the first of the signals does not end the process, but aborts the work, with the error of the command.
 *
 * @param signals By default that of Ctrl-C.
 */
export function interruptible<R>(
  work: (stopping: AbortController) => Promise<R>,
  message = MESSAGES.interrupted,
  signals: readonly NodeJS.Signals[] = ['SIGINT'],
): Promise<R> {
  const stopping = new AbortController();
  const endWait = onFirstSignal(signals, () => stopping.abort(new CommandFailed(message, EXIT_INTERRUPTED)));
  return work(stopping).finally(endWait);
}

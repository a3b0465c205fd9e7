import { constants, fstatSync, openSync } from 'node:fs';

/** Where the log is written. */
export interface Output {
  readonly fd: number;
  /** Whether a write may wait for a reader or a disk. Otherwise a write that would wait fails with EAGAIN. */
  readonly mayBlock: boolean;
}

/**
 * Opens standard output so that no write to it blocks the event loop, not even one to a terminal that is stopped with Ctrl-S.
 * Errors of Node's own streams, to which libraries may write, no longer end the process.
 */
export function openStandardOutput(): Output {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  // A file that is opened again is written from its beginning.
  if (fstatSync(1).isFile()) return { fd: 1, mayBlock: true };
  try {
    // Processes that have inherited a pipe or a terminal share its blocking mode, unless it is opened again.
    const fd = openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    return { fd, mayBlock: false };
  } catch {
    // A socket, another user's terminal, or not Linux.
    return { fd: 1, mayBlock: true };
  }
}

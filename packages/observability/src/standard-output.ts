import { constants, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * Opens standard output so that writing to it never blocks, not even to a terminal that is stopped with Ctrl-S. Errors of Node's
 * own streams, to which libraries may write, no longer end the process.
 *
 * @returns A file descriptor. A write that would block fails with EAGAIN.
 */
export function openStandardOutput(): number {
  // The streams make a pipe or a socket non-blocking as soon as they exist.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (!isatty(1)) return 1;
  try {
    // Node.js itself writes to terminals synchronously.
    return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    // Another user's terminal, or not Linux.
    return 1;
  }
}

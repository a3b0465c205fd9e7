import { getSystemErrorMessage } from 'node:util';

/** The command failed, or completed only in part; the message says what remains to be done. */
export class CommandFailed extends Error {
  override readonly name: string = 'CommandFailed';
}

/** A signal asked the command to end, and it has said how far it came. */
export class Interrupted extends CommandFailed {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals, message: string) {
    super(message);
    this.signal = signal;
  }
}

/** What went wrong, in words: `no such file or directory` instead of `ENOENT: … open 'pets.csv'`. */
export function inWords(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return errno === undefined ? message : getSystemErrorMessage(errno);
}

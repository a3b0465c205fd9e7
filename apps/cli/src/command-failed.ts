import { getSystemErrorMessage } from 'node:util';

/** The command is rejected, its output is incomplete, or the storage is unavailable. */
export const EXIT_FAILED = 1;

/** The command failed, or completed only in part; the message says what remains to be done. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly exitCode: number;

  constructor(message: string, exitCode = EXIT_FAILED) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The reason of an error in words: `no such file or directory` instead of `ENOENT: … open 'pets.csv'`. */
export function inWords(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return errno === undefined ? message : getSystemErrorMessage(errno);
}

import type { Readable, Writable } from 'node:stream';
import type { Catalogue, Keyring } from '@animal-store/domain';

/** The use cases that commands call. */
export interface UseCases {
  readonly catalogue: Catalogue;
  readonly keyring: Keyring;
}

/** A stream of text that may be a terminal. */
export type TextOutput = Writable & { readonly isTTY?: boolean };

/** The surroundings of a command. */
export interface Context {
  /** Opens the storage that the environment names, and closes it when the work is settled. */
  withStorage<T>(work: (useCases: UseCases) => Promise<T>): Promise<T>;
  readonly stdin: Readable;
  /** The output of results. */
  readonly stdout: TextOutput;
  /** The output of messages and progress. */
  readonly stderr: TextOutput;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** The command failed, or completed only in part; the message says what remains to be done. */
export class CommandFailed extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

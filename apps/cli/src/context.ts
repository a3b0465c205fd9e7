import type { Readable, Writable } from 'node:stream';
import type { openStorage } from '@animal-store/app-kit';

/** A stream of text that may be a terminal. */
export type TextOutput = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The surroundings of the command line. */
export interface Context {
  /** The arguments: messages may quote them. */
  readonly words: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number };
  /** The output of results. */
  readonly stdout: TextOutput;
  /** The output of messages and progress. */
  readonly stderr: TextOutput;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly openStorage: typeof openStorage;
}

/** The command failed, or completed only in part; the message says what remains to be done. */
export class CommandFailed extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

import type { Readable, Writable } from 'node:stream';
import type { Catalogue, Keyring } from '@animal-store/domain';
import type { KeyStore, PetArchive } from '@animal-store/domain/ports';

interface UseCases {
  readonly catalogue: Catalogue;
  readonly keyring: Keyring;
}

/** A storage that `copy` reads or fills. */
export interface MovableStorage {
  readonly archive: PetArchive;
  readonly keys: KeyStore;
}

/** The options that name the target: its setting, or a file with it, and perhaps the module of its adapter. */
export interface TargetOptions {
  readonly to?: string;
  readonly toFile?: string;
  readonly toStorage?: string;
}

/** A stream of text that may be a terminal. */
export type TextOutput = Writable & { readonly isTTY?: boolean };

/** The surroundings of a command. */
export interface Context {
  /**
   * Opens the storage that the environment names, and closes it when the work is settled. A file that doesn't exist is an
   * error, because its name may be mistyped, unless `create` is true.
   */
  withStorage(work: (useCases: UseCases) => Promise<void>, options?: { create: boolean }): Promise<void>;
  /** Opens the same storage and another one, which may be created, and closes them. */
  withTarget(
    options: TargetOptions,
    work: (source: MovableStorage, target: MovableStorage) => Promise<void>,
  ): Promise<void>;
  /** The arguments of the command line: messages may quote them. */
  readonly words: readonly string[];
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

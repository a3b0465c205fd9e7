import type { Keyring } from '@animal-store/domain';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';

/** What commands call. */
export interface UseCases {
  readonly catalogue: AwaitableCatalogue;
  readonly keyring: Keyring;
}

/** A stream of text that may be a terminal. */
export type TextOutput = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** What surrounds a command. */
export interface Context {
  /**
   * Opens the storage that the environment names, and closes it when the work is settled. Commands call it as late as they
   * can: help and usage errors need no storage.
   */
  withStorage<T>(work: (useCases: UseCases) => Promise<T>): Promise<T>;
  /** For results. */
  readonly stdout: TextOutput;
  /** For messages and progress. */
  readonly stderr: TextOutput;
  readonly stdin: NodeJS.ReadableStream;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

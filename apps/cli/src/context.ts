import type { Keyring } from '@animal-store/domain';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';

/** The use cases that commands call. */
export interface UseCases {
  readonly catalogue: AwaitableCatalogue;
  readonly keyring: Keyring;
}

/** A stream of text that may be a terminal, with its width in characters; 0 if it is unknown. */
export type TextOutput = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** The surroundings of a command. */
export interface Context {
  readonly version: string;
  /** The variables that select a storage, for the help. */
  readonly storageChoices: string;
  /** Opens the storage that the environment names, as late as possible, and closes it when the work is settled. */
  withStorage<T>(work: (useCases: UseCases) => Promise<T>): Promise<T>;
  /** Calls a function for the first signal to stop, instead of ending the process. The same signal again ends it. */
  onStop(stop: (signal: NodeJS.Signals) => void): void;
  /** The output of results. */
  readonly stdout: TextOutput;
  /** The output of messages and progress. */
  readonly stderr: TextOutput;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

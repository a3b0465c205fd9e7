import type { Lines } from './read-pets.ts';

/** What happens to each pet of a file. */
export interface TransferEvents {
  onDone(): void;
  /** @returns Whether to go on. */
  onRejected(lines: Lines, reason: string): boolean;
}

/** What happens to each pet of a file. */
export interface TransferEvents {
  onDone(): void;
  /** @returns Whether to go on. */
  onRejected(line: number, reason: string): boolean;
}

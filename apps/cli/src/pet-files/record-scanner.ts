/** Finds the ends of the records of one file, in pieces of its text that follow each other. */
export interface RecordScanner {
  /**
   * Continues a record, or begins the next one.
   *
   * @param text Bytes as Latin-1.
   * @param from Where the last call ended, in UTF-16 code units; behind the line feed if it found one.
   * @param to Where this call ends if the record does not end before.
   * @returns The index of the line feed that ends the record, or -1.
   */
  endOfRecord(text: string, from: number, to: number): number;

  /** Whether the last call ended in quotes. */
  isInQuotes(): boolean;
}

import type { Pet } from '@animal-store/domain';

/** A format of pets in a file. */
export interface PetFormat {
  readonly name: 'ndjson' | 'csv';

  /** A first line, for people who type. */
  readonly example: string;

  /** Starts to find the records of a file. */
  createScanner(): RecordScanner;

  /** Starts to read a file. */
  createReader(): ReadRecord;

  /** The beginning of a file; empty if the first record is a pet. */
  readonly header: string;

  /** A pet as a record with its line end. */
  write(pet: Pet): string;
}

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

/**
 * Reads the next record of a file.
 *
 * @returns The pet that it holds, for the use case to check; undefined if it is empty or a header.
 * @throws UnreadableRecord
 */
export type ReadRecord = (text: string) => unknown;

/** A record that holds no pet. The message says why. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

/** A file that can't be read, or not from some line on. The message says why. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

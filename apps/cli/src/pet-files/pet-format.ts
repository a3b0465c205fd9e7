import type { Pet } from '@animal-store/domain';

/** The longest record, in bytes; also the limit of a request body over HTTP. It bounds the memory that a file takes. */
export const MAX_RECORD_BYTES = 64 * 1024;

export interface PetFormat {
  readonly name: 'ndjson' | 'csv';

  /** A first line, for people who type. */
  readonly example: string;

  /** Starts to read a file. */
  createReader(): RecordReader;

  /** The beginning of a file; empty if the first record is a pet. */
  readonly header: string;

  /** A pet as a record with its line end. */
  write(pet: Pet): string;
}

/** Reads the records of one file in their order. */
export interface RecordReader {
  /** Whether a record continues after its last line. Both are bytes as Latin-1, and cut off if the line is too long. */
  isOpen(record: string, lastLine: string): boolean;

  /** The pet that the record holds, for the use case to check; undefined if it is empty or a header. */
  read(text: string): unknown;
}

/** A record that holds no pet. The message says why. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

/** A file that can't be read, or not from some line on. The message says why. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

import { isUtf8 } from 'node:buffer';
import { MESSAGES } from '../messages.ts';
import { type RecordScanner, UnreadableFile } from './pet-format.ts';

/** The longest record, in bytes; also the limit of a request body over HTTP. It bounds the memory that a file takes. */
export const MAX_RECORD_BYTES = 64 * 1024;

/** One record of a file: a line, or several if a quoted field has line feeds. */
export interface FileRecord {
  /** The number of its first line, from 1. */
  readonly line: number;
  /** The number of its last line. */
  readonly lastLine: number;
  /** Without the line feed at its end; empty if there is an error. */
  readonly text: string;
  /** Why the record can't be read, or null. */
  readonly error: string | null;
}

const LIMIT = `${MAX_RECORD_BYTES / 1024} KiB`;
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const BEYOND_ASCII = /[\u0080-\u00ff]/;

/**
 * The records of a file in UTF-8, in memory that does not grow with the file: an array for each chunk. A byte order mark at
 * the beginning is ignored. After an error it goes on with the next record.
 *
 * @throws UnreadableFile after the records before it, if a quote is open for so long that it can't be told what is a record.
 */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  scanner: RecordScanner,
): AsyncGenerator<readonly FileRecord[]> {
  const splitter = new RecordSplitter(scanner);
  for await (const text of withoutByteOrderMark(chunks)) {
    yield splitter.push(text);
    const line = splitter.unreadableLine;
    if (line !== null) throw new UnreadableFile(MESSAGES.quoteNotClosedWithin(line, LIMIT));
  }
  yield splitter.end();
}

/**
 * The chunks as Latin-1, which is a copy of the bytes: records are found in it, and only those beyond ASCII are decoded one
 * by one.
 */
async function* withoutByteOrderMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let head: string | null = '';
  for await (const chunk of chunks) {
    const text = chunk.toString('latin1');
    if (head === null) {
      yield text;
      continue;
    }
    head += text;
    // The rest of the mark may be in the next chunk.
    if (head.length < BYTE_ORDER_MARK.length && BYTE_ORDER_MARK.startsWith(head)) continue;
    yield head.startsWith(BYTE_ORDER_MARK) ? head.slice(BYTE_ORDER_MARK.length) : head;
    head = null;
  }
  if (head !== null) yield head;
}

/**
 * Finds the records of a text that arrives in chunks.
 *
 * For example with records of at most 4 bytes: `push('a\n"b')` returns the record `a` of line 1 and keeps `"b`.
 * `push('\n"\nxxxxxx')` returns `"b\n"` of the lines 2 to 3; `xxxxx` is longer than a record, so it is dropped, and the last
 * `x` is kept. `push('x\nc')` then returns an error for line 4, and keeps `c`, which `end()` returns as line 5.
 */
class RecordSplitter {
  readonly #scanner: RecordScanner;
  /** The scanned beginning of the record that has not ended, without what was dropped. */
  #kept = '';
  /** The number of that record's first line. */
  #line = 1;
  /** The line feeds that were dropped of that record because it is too long; null if it is not. */
  #droppedLineFeeds: number | null = null;
  /** The line of a quote that is open for longer than a record may be; null if there is none. */
  unreadableLine: number | null = null;

  constructor(scanner: RecordScanner) {
    this.#scanner = scanner;
  }

  /** @returns The records that end in the chunk, or before an unreadable line. */
  push(chunk: string): FileRecord[] {
    const text = this.#kept + chunk;
    const records: FileRecord[] = [];
    let start = 0;
    for (let scanned = this.#kept.length; scanned < text.length; scanned = start) {
      const limit = start + MAX_RECORD_BYTES + 1;
      const to = Math.min(text.length, limit);
      const end = this.#scanner.endOfRecord(text, scanned, to);
      if (end !== -1) {
        records.push(this.#record(text, start, end));
        start = end + 1;
      } else if (to < limit) {
        break;
      } else if (this.#scanner.isInQuotes()) {
        this.unreadableLine = this.#line;
        break;
      } else {
        this.#droppedLineFeeds = (this.#droppedLineFeeds ?? 0) + lineFeeds(text, start, to);
        start = to;
      }
    }
    this.#kept = text.slice(start);
    return records;
  }

  /** @returns The last record if no line feed ends it. */
  end(): FileRecord[] {
    const records = this.push('\n');
    const rest = this.#kept;
    if (rest === '') return records;
    // The line feed that was added, and that of a last line, begin no line.
    const end = rest.length - (rest.endsWith('\n\n') ? 2 : 1);
    const lastLine = this.#line + (this.#droppedLineFeeds ?? 0) + lineFeeds(rest, 0, end);
    return [...records, { line: this.#line, lastLine, text: '', error: MESSAGES.quoteNotClosed }];
  }

  /** The record that ends here. The next one begins. */
  #record(text: string, start: number, end: number): FileRecord {
    const line = this.#line;
    const lastLine = line + (this.#droppedLineFeeds ?? 0) + lineFeeds(text, start, end);
    const isTooLong = this.#droppedLineFeeds !== null;
    this.#line = lastLine + 1;
    this.#droppedLineFeeds = null;
    return isTooLong
      ? { line, lastLine, text: '', error: MESSAGES.tooLong(LIMIT) }
      : decoded(line, lastLine, text.slice(start, end));
  }
}

function decoded(line: number, lastLine: number, text: string): FileRecord {
  if (!BEYOND_ASCII.test(text)) return { line, lastLine, text, error: null };
  const bytes = Buffer.from(text, 'latin1');
  if (!isUtf8(bytes)) return { line, lastLine, text: '', error: MESSAGES.notUtf8 };
  return { line, lastLine, text: bytes.toString(), error: null };
}

function lineFeeds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

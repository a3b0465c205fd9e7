import { isUtf8 } from 'node:buffer';
import { UnreadableFile } from './pet-format.ts';
import type { RecordScanner } from './record-scanner.ts';

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
  const split = createSplitter(scanner);
  // Latin-1 is a copy of the bytes: records are found in it, and only those beyond ASCII are decoded one by one.
  for await (const chunk of chunks) yield* split(chunk.toString('latin1'), false);
  yield* split('\n', true);
}

function createSplitter(scanner: RecordScanner): (chunk: string, isLast: boolean) => Generator<readonly FileRecord[]> {
  /** What of the record was scanned, and does not end it. */
  let rest = '';
  let line = 1;
  /** The number of the line that `rest` begins on. */
  let restLine = 1;
  /** The record is too long: its text is not kept. */
  let isTooLong = false;
  let isStart = true;

  return function* split(chunk, isLast) {
    const text = rest + chunk;
    const records: FileRecord[] = [];
    let start = 0;
    let from = rest.length;
    if (isStart) {
      // The rest of it may be in the next chunk.
      if (text.length < BYTE_ORDER_MARK.length && BYTE_ORDER_MARK.startsWith(text) && !isLast) {
        rest = text;
        return;
      }
      from = start = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
      isStart = false;
    }

    while (from < text.length) {
      const limit = start + MAX_RECORD_BYTES + 1;
      const to = Math.min(text.length, limit);
      const end = scanner.endOfRecord(text, from, to);
      if (end !== -1) {
        const lastLine = restLine + lineFeeds(text, start, end);
        if (isTooLong) records.push({ line, lastLine, text: '', error: `longer than ${LIMIT}` });
        else records.push(decoded(line, lastLine, text.slice(start, end)));
        line = restLine = lastLine + 1;
        start = from = end + 1;
        isTooLong = false;
        continue;
      }
      from = to;
      if (to < limit) break;
      if (scanner.isInQuotes()) {
        yield records;
        throw new UnreadableFile(`line ${line}: a quote is not closed within ${LIMIT}; the rest is not read`);
      }
      isTooLong = true;
      restLine += lineFeeds(text, start, to);
      start = to;
    }
    rest = text.slice(start);
    if (isLast && rest !== '') {
      // The line feed that was added, and that of a last line, begin no line.
      const lastLine = restLine + lineFeeds(rest, 0, rest.length - (rest.endsWith('\n\n') ? 2 : 1));
      records.push({ line, lastLine, text: '', error: 'a quote is not closed' });
    }
    yield records;
  };
}

function decoded(line: number, lastLine: number, text: string): FileRecord {
  if (!BEYOND_ASCII.test(text)) return { line, lastLine, text, error: null };
  const bytes = Buffer.from(text, 'latin1');
  if (!isUtf8(bytes)) return { line, lastLine, text: '', error: 'not UTF-8' };
  return { line, lastLine, text: bytes.toString(), error: null };
}

function lineFeeds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

import { isUtf8 } from 'node:buffer';

/** The longest record, in bytes; also the limit of a request body over HTTP. It bounds the memory that a file takes. */
export const MAX_RECORD_BYTES = 64 * 1024;

/** One record of a file: a line, or several if a quoted field has line feeds. */
export interface FileRecord {
  /** The number of its first line, from 1. */
  readonly line: number;
  /** Without the line feed at its end; empty if there is an error. */
  readonly text: string;
  /** Why the record can't be read, or null. */
  readonly error: string | null;
}

/**
 * Finds the line feed that ends a record.
 *
 * @param text Bytes as Latin-1.
 * @returns -1 if the record does not end in this text.
 */
export type EndOfRecord = (text: string, start: number) => number;

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const BEYOND_ASCII = /[\u0080-\u00ff]/;

/**
 * The records of a file in UTF-8, in memory that does not grow with the file: an array for each chunk. A byte order mark at
 * the beginning is ignored. After an error it goes on with the next line.
 */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  endOfRecord: EndOfRecord,
): AsyncGenerator<readonly FileRecord[]> {
  const split = createSplitter(endOfRecord);
  // Latin-1 is a copy of the bytes: records are found in it, and only those beyond ASCII are decoded one by one.
  for await (const chunk of chunks) yield split(chunk.toString('latin1'), false);
  yield split('\n', true);
}

function createSplitter(endOfRecord: EndOfRecord): (chunk: string, isLast: boolean) => FileRecord[] {
  let rest = '';
  let line = 1;
  /** A record that is too long has begun: nothing counts before the next line feed. */
  let discarding = false;
  let isStart = true;

  return (chunk, isLast) => {
    const text = rest + chunk;
    const records: FileRecord[] = [];
    let start = 0;
    if (isStart && text.startsWith(BYTE_ORDER_MARK)) start = BYTE_ORDER_MARK.length;
    // The rest of it may be in the next chunk.
    isStart &&= text.length < BYTE_ORDER_MARK.length && BYTE_ORDER_MARK.startsWith(text);

    while (start < text.length) {
      const lineEnd = text.indexOf('\n', start);
      if (discarding) {
        if (lineEnd === -1) {
          start = text.length;
          break;
        }
        discarding = false;
        line += 1;
        start = lineEnd + 1;
        continue;
      }
      let end = endOfRecord(text, start);
      const length = (end === -1 ? text.length : end) - start;
      if (end === -1 && length <= MAX_RECORD_BYTES && !isLast) break;
      let error: string | null = null;
      if (end === -1 && lineEnd !== -1) {
        error = 'a quote is not closed';
        end = lineEnd;
      } else if (length > MAX_RECORD_BYTES) {
        error = `longer than ${MAX_RECORD_BYTES / 1024} KiB`;
        discarding = end === -1;
      }
      records.push(error === null ? decoded(line, text.slice(start, end)) : { line, text: '', error });
      if (discarding) continue;
      line += lineEnd === end ? 1 : countLineFeeds(text, start, end);
      start = end + 1;
    }
    rest = text.slice(start);
    return records;
  };
}

function decoded(line: number, text: string): FileRecord {
  if (!BEYOND_ASCII.test(text)) return { line, text, error: null };
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? { line, text: bytes.toString(), error: null } : { line, text: '', error: 'not UTF-8' };
}

/** Including that at `end`. */
function countLineFeeds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at <= end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

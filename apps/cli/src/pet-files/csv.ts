import { quote } from '@animal-store/domain/transport';
import { asBigInt } from '../arguments.ts';
import { MESSAGES } from '../messages.ts';
import { columnsOf, DELIMITERS, delimiterOf, fieldsOf } from './csv-fields.ts';
import { type PetFormat, type ReadRecord, type RecordScanner, UnreadableFile, UnreadableRecord } from './pet-format.ts';
import { MAX_RECORD_BYTES } from './records.ts';

const COLUMNS = ['id', 'name', 'categoryId', 'status'] as const;

/** What a field can't have without quotes. Outer spaces are quoted for readers that would trim them. */
const NEEDS_QUOTES = /["\r\n,;\t]|^\s|\s$/;

/**
 * CSV of RFC 4180 with a header. It is read with the columns in any order, further columns, and commas, semicolons or tabs
 * between the fields; lines may end in a line feed alone.
 */
export const csv: PetFormat = {
  name: 'csv',
  example: 'name,categoryId,status',
  header: `${COLUMNS.join(',')}\r\n`,

  write: ({ id, name, categoryId, status = '' }) =>
    `${id},${NEEDS_QUOTES.test(name) ? `"${name.replaceAll('"', '""')}"` : name},${categoryId},${status}\r\n`,

  createScanner,
  createReader,
};

function createReader(): ReadRecord {
  let header: Header | null = null;
  return (record) => {
    const text = record.endsWith('\r') ? record.slice(0, -1) : record;
    if (header === null) {
      header = readHeader(text);
      return undefined;
    }
    const fields = fieldsOf(text, header.delimiter);
    if (fields.every((field) => field === '')) return undefined;
    if (fields.length !== header.length) {
      throw new UnreadableRecord(MESSAGES.fieldCount(fields.length, header.length));
    }
    const status = header.status === -1 ? '' : fields[header.status];
    return {
      name: fields[header.name],
      categoryId: asBigInt(fields[header.categoryId] || undefined),
      status: status === '' ? undefined : status,
    };
  };
}

interface Header {
  readonly delimiter: string;
  readonly length: number;
  /** The indexes of the columns, -1 if there is none. */
  readonly name: number;
  readonly categoryId: number;
  readonly status: number;
}

function readHeader(text: string): Header {
  const delimiter = delimiterOf(text);
  if (delimiter === null) {
    throw new UnreadableFile(MESSAGES.columnsMissing(quote(text)));
  }
  const columns = columnsOf(text, delimiter);
  const indexOf = (column: string) => {
    const index = columns.indexOf(column);
    if (index !== columns.lastIndexOf(column)) {
      throw new UnreadableFile(MESSAGES.columnTwice(column, quote(text)));
    }
    return index;
  };
  return {
    delimiter,
    length: columns.length,
    name: indexOf('name'),
    categoryId: indexOf('categoryId'),
    status: indexOf('status'),
  };
}

/** Where a scan is: at the beginning of a field, in one without quotes, in quotes, or behind a quote in quotes. */
type State = 'start' | 'plain' | 'quoted' | 'behind quote';

/** Finds the records of a CSV file with a header: a line feed in a quoted field does not end the record. */
function createScanner(): RecordScanner {
  let state: State = 'start';
  let delimiters: readonly string[] = DELIMITERS;
  /** What was read of the header; null behind it. */
  let header: string | null = '';

  function endOfRecord(text: string, from: number, to: number): number {
    const end = scan(text, from, to);
    if (header !== null) {
      if (header.length <= MAX_RECORD_BYTES) header += text.slice(from, end === -1 ? to : end);
      if (end !== -1) {
        delimiters = [delimiterOf(header) ?? ','];
        header = null;
      }
    }
    return end;
  }

  function scan(text: string, from: number, to: number): number {
    if (state === 'start') {
      const lineEnd = text.indexOf('\n', from);
      if (lineEnd !== -1 && lineEnd < to && !text.slice(from, lineEnd).includes('"')) return lineEnd;
    }
    for (let at = from; at < to; at += 1) {
      const character = text[at] as string;
      if (state === 'quoted') {
        at = text.indexOf('"', at);
        if (at === -1 || at >= to) return -1;
        state = 'behind quote';
      } else if (character === '"' && state !== 'plain') {
        // A quote behind a quote is the second of a pair.
        state = 'quoted';
      } else if (character === '\n') {
        state = 'start';
        return at;
      } else {
        state = delimiters.includes(character) ? 'start' : 'plain';
      }
    }
    return -1;
  }

  return { endOfRecord, isInQuotes: () => state === 'quoted' };
}

import { quote } from '@animal-store/domain/transport';
import { asBigInt } from '../arguments.ts';
import { columnsOf, delimiterOf, fieldsOf } from './csv-fields.ts';
import { createCsvScanner } from './csv-scanner.ts';
import { type PetFormat, type ReadRecord, UnreadableFile, UnreadableRecord } from './pet-format.ts';

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

  createScanner: createCsvScanner,
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
      throw new UnreadableRecord(`it has ${fields.length} fields, the header has ${header.length}`);
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
    throw new UnreadableFile(`the first line must name the columns name and categoryId, was ${quote(text)}`);
  }
  const columns = columnsOf(text, delimiter);
  const indexOf = (column: string) => {
    const index = columns.indexOf(column);
    if (index !== columns.lastIndexOf(column)) {
      throw new UnreadableFile(`the first line must name the column ${column} once, was ${quote(text)}`);
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

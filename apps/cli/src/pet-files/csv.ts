import { quote } from '@animal-store/domain/transport';
import { asBigInt } from '../arguments.ts';
import { MESSAGES } from '../messages.ts';
import { MAX_RECORD_BYTES, type PetFormat, type RecordReader, UnreadableFile, UnreadableRecord } from './pet-format.ts';

/** The characters that spreadsheets write between fields. */
const DELIMITERS = [',', ';', '\t'];

/** A field that has one of these must be quoted. Outer spaces are quoted for readers that would trim them. */
const NEEDS_QUOTES = /["\r\n,;\t]|^\s|\s$/;

/**
 * CSV of RFC 4180 with a header. It is read with the columns in any order, further columns, and commas, semicolons or tabs
 * between the fields; lines may end in a line feed alone.
 */
export const csv: PetFormat = {
  name: 'csv',
  example: 'name,categoryId,status',
  header: 'id,name,categoryId,status\r\n',

  write: ({ id, name, categoryId, status = '' }) =>
    `${id},${NEEDS_QUOTES.test(name) ? `"${name.replaceAll('"', '""')}"` : name},${categoryId},${status}\r\n`,

  createReader,
};

function createReader(): RecordReader {
  let header: Header | null = null;
  return {
    isOpen(record, lastLine) {
      // The end of a record that is cut off may be in quotes.
      if (record.length > MAX_RECORD_BYTES) return true;
      const endsNoQuote = record !== lastLine && !lastLine.includes('"');
      return endsNoQuote || endsInQuotes(record, header?.delimiter ?? DELIMITERS.join(''));
    },

    read(record) {
      const text = record.endsWith('\r') ? record.slice(0, -1) : record;
      if (header === null) {
        header = readHeader(text);
        return undefined;
      }
      const { columns, delimiter } = header;
      const fields = fieldsOf(text, delimiter);
      if (fields.every((field) => field === '')) return undefined;
      if (fields.length !== columns.length) {
        throw new UnreadableRecord(MESSAGES.fieldCount(fields.length, columns.length));
      }
      const field = (column: string) => fields[columns.indexOf(column)];
      return {
        name: field('name'),
        categoryId: asBigInt(field('categoryId') || undefined),
        status: field('status') || undefined,
      };
    },
  };
}

interface Header {
  readonly delimiter: string;
  readonly columns: readonly string[];
}

function readHeader(text: string): Header {
  const header = headerOf(text);
  if (header === null) throw new UnreadableFile(MESSAGES.columnsMissing(quote(text)));
  const twice = ['name', 'categoryId', 'status'].find(
    (column) => header.columns.indexOf(column) !== header.columns.lastIndexOf(column),
  );
  if (twice !== undefined) throw new UnreadableFile(MESSAGES.columnTwice(twice, quote(text)));
  return header;
}

/** A first line that names the columns that a pet needs, with any delimiter; otherwise null. */
export function headerOf(text: string): Header | null {
  for (const delimiter of DELIMITERS) {
    try {
      const columns = fieldsOf(text, delimiter).map((column) => column.trim());
      if (columns.includes('name') && columns.includes('categoryId')) return { delimiter, columns };
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
    }
  }
  return null;
}

/** Whether a record ends in a quoted field. `delimiters` are the characters that may be between fields. */
function endsInQuotes(text: string, delimiters: string): boolean {
  if (!text.includes('"')) return false;
  const closedFields = new RegExp(`(^|[${delimiters}])"[^"]*(?:""[^"]*)*"`, 'g');
  return new RegExp(`(^|[${delimiters}])"`).test(text.replaceAll(closedFields, '$1'));
}

/** The fields of a record (RFC 4180, section 2). Throws an UnreadableRecord for a misplaced quote. */
function fieldsOf(text: string, delimiter: string): string[] {
  if (!text.includes('"')) return text.split(delimiter);
  // A closed quoted field and the text behind it, or all up to the delimiter.
  const field = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"([^${delimiter}]*)|([^${delimiter}]*))${delimiter}`, 'gy');
  return Array.from(`${text}${delimiter}`.matchAll(field), ([, quoted, behind, plain = '']) => {
    if (plain.includes('"')) throw new UnreadableRecord(MESSAGES.quoteInField);
    if (behind) throw new UnreadableRecord(MESSAGES.textAfterQuote);
    return quoted?.replaceAll('""', '"') ?? plain;
  });
}

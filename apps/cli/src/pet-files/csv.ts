import { quote } from '@animal-store/domain/transport';
import { asBigInt } from '../arguments.ts';
import { type PetFormat, type ReadRecord, UnreadableFile, UnreadableRecord } from './pet-format.ts';

const COLUMNS = ['id', 'name', 'categoryId', 'status'] as const;

/** The characters that spreadsheets write between fields. */
const DELIMITERS = [',', ';', '\t'];

/** What a field can't have without quotes. Outer spaces are quoted for readers that would trim them. */
const NEEDS_QUOTES = /["\r\n,;\t]|^\s|\s$/;

/**
 * CSV of RFC 4180 with a header. It is read with the columns in any order, further columns, and commas, semicolons or tabs
 * between the fields; lines may end in a line feed alone.
 */
export const csv: PetFormat = {
  header: `${COLUMNS.join(',')}\r\n`,

  write: ({ id, name, categoryId, status = '' }) =>
    `${id},${NEEDS_QUOTES.test(name) ? `"${name.replaceAll('"', '""')}"` : name},${categoryId},${status}\r\n`,

  endOfRecord,
  createReader,
};

/** A line feed in a quoted field does not end the record. */
function endOfRecord(text: string, start: number): number {
  const lineEnd = text.indexOf('\n', start);
  if (lineEnd === -1 || !text.slice(start, lineEnd).includes('"')) return lineEnd;
  for (let at = start; ; ) {
    if (text[at] === '"') {
      const close = closingQuote(text, at);
      if (close === -1) return -1;
      at = close + 1;
    }
    while (at < text.length && !isDelimiter(text[at]) && text[at] !== '\n') at += 1;
    if (at >= text.length) return -1;
    if (text[at] === '\n') return at;
    at += 1;
  }
}

/** @param open The index of the opening quote. @returns -1 if the field is not closed. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  return -1;
}

function isDelimiter(character: string | undefined): boolean {
  return character !== undefined && DELIMITERS.includes(character);
}

function createReader(): ReadRecord {
  let header: Header | null = null;
  return (record) => {
    const text = record.endsWith('\r') ? record.slice(0, -1) : record;
    if (header === null) {
      header = readHeader(text);
      return undefined;
    }
    const fields = split(text, header.delimiter);
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
  const delimiter = /[,;\t]/.exec(text)?.[0] ?? ',';
  const columns = text.split(delimiter).map((column) => column.replace(/^"(.*)"$/, '$1').trim());
  const [name, categoryId, status] = ['name', 'categoryId', 'status'].map((column) => columns.indexOf(column)) as [
    number,
    number,
    number,
  ];
  if (name === -1 || categoryId === -1) {
    throw new UnreadableFile(`the first line must name the columns name and categoryId, was ${quote(text)}`);
  }
  return { delimiter, length: columns.length, name, categoryId, status };
}

function split(text: string, delimiter: string): string[] {
  if (!text.includes('"')) return text.split(delimiter);
  const fields: string[] = [];
  for (let at = 0; at <= text.length; ) {
    const [field, end] = text[at] === '"' ? quoted(text, at) : plain(text, at, delimiter);
    if (end < text.length && text[end] !== delimiter)
      throw new UnreadableRecord('a field goes on after its closing quote');
    fields.push(field);
    at = end + 1;
  }
  return fields;
}

/** @returns The field and the index behind it. */
function quoted(text: string, at: number): [string, number] {
  const close = closingQuote(text, at);
  // A record with an open quote has not ended.
  return [text.slice(at + 1, close).replaceAll('""', '"'), close + 1];
}

function plain(text: string, at: number, delimiter: string): [string, number] {
  const next = text.indexOf(delimiter, at);
  const end = next === -1 ? text.length : next;
  const field = text.slice(at, end);
  if (field.includes('"'))
    throw new UnreadableRecord('a field with a quote must be in quotes, each quote in it doubled');
  return [field, end];
}

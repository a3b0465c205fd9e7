import { MESSAGES } from '../messages.ts';
import { UnreadableRecord } from './pet-format.ts';

/** The characters that spreadsheets write between fields. */
export const DELIMITERS = [',', ';', '\t'];

/** The columns that a file must have. */
const REQUIRED_COLUMNS = ['name', 'categoryId'];

/**
 * The fields of a record (RFC 4180, section 2).
 *
 * @throws UnreadableRecord if a quote is where none may be.
 */
export function fieldsOf(text: string, delimiter: string): string[] {
  if (!text.includes('"')) return text.split(delimiter);
  const fields: string[] = [];
  for (let at = 0; at <= text.length; ) {
    const [field, end] = text[at] === '"' ? quoted(text, at) : plain(text, at, delimiter);
    if (end < text.length && text[end] !== delimiter) throw new UnreadableRecord(MESSAGES.textAfterQuote);
    fields.push(field);
    at = end + 1;
  }
  return fields;
}

/** The columns that a header names with a delimiter. */
export function columnsOf(header: string, delimiter: string): string[] {
  return fieldsOf(header, delimiter).map((column) => column.trim());
}

/** The delimiter with which a header names the columns of a pet; null if there is none. */
export function delimiterOf(header: string): string | null {
  const text = header.endsWith('\r') ? header.slice(0, -1) : header;
  return DELIMITERS.find((delimiter) => namesRequiredColumns(text, delimiter)) ?? null;
}

function namesRequiredColumns(header: string, delimiter: string): boolean {
  try {
    const columns = columnsOf(header, delimiter);
    return REQUIRED_COLUMNS.every((column) => columns.includes(column));
  } catch (error) {
    if (error instanceof UnreadableRecord) return false;
    throw error;
  }
}

/** @returns The field and the index behind it. */
function quoted(text: string, at: number): [string, number] {
  const close = closingQuote(text, at);
  if (close === -1) throw new UnreadableRecord(MESSAGES.quoteNotClosed);
  return [text.slice(at + 1, close).replaceAll('""', '"'), close + 1];
}

/** @param open The index of the opening quote. @returns -1 if the field is not closed. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  return -1;
}

function plain(text: string, at: number, delimiter: string): [string, number] {
  const next = text.indexOf(delimiter, at);
  const end = next === -1 ? text.length : next;
  const field = text.slice(at, end);
  if (field.includes('"')) throw new UnreadableRecord(MESSAGES.quoteInField);
  return [field, end];
}

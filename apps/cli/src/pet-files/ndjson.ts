import { NumberLiteral } from '@animal-store/domain/transport';
import { restoreNumber, stringify } from '@animal-store/exact-json';
import { MESSAGES } from '../messages.ts';
import { type PetFormat, type RecordScanner, UnreadableRecord } from './pet-format.ts';

const EMPTY = /^[\t\r ]*$/;

const toNumberLiteral = (text: string) => new NumberLiteral(text);

const byLine: RecordScanner = {
  endOfRecord(text, from, to) {
    const end = text.indexOf('\n', from);
    return end < to ? end : -1;
  },
  isInQuotes: () => false,
};

/** A JSON object in each line (https://github.com/ndjson/ndjson-spec), its integers with all digits. */
export const ndjson: PetFormat = {
  name: 'ndjson',
  example: '{"name":"Rex","categoryId":7}',
  header: '',
  write: (pet) => `${stringify(pet)}\n`,
  createScanner: () => byLine,
  createReader: () => readLine,
};

function readLine(text: string): unknown {
  if (EMPTY.test(text)) return undefined;
  const value = parse(text);
  restoreNumber(value, text, 'categoryId', toNumberLiteral);
  // A line without a pet is no empty line.
  return value ?? null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableRecord(MESSAGES.notJson((error as Error).message));
  }
}

import { parse, stringify } from '@animal-store/exact-json';
import { type PetFormat, UnreadableRecord } from './pet-format.ts';

const EMPTY = /^[\t\r ]*$/;

/** A JSON object in each line (https://github.com/ndjson/ndjson-spec), its integers with all digits. */
export const ndjson: PetFormat = {
  name: 'ndjson',
  example: '{"name":"Rex","categoryId":7}',
  header: '',
  write: (pet) => `${stringify(pet)}\n`,
  createReader: () => ({ isOpen: () => false, read }),
};

function read(text: string): unknown {
  if (EMPTY.test(text)) return undefined;
  try {
    // A line without a pet is no empty line.
    return parse(text, { integers: 'bigint', others: 'raw', name: 'record' }) ?? null;
  } catch (error) {
    // A record is one line, whose number in the file is printed before the message.
    throw new UnreadableRecord((error as SyntaxError).message.replace('line 1, ', ''));
  }
}

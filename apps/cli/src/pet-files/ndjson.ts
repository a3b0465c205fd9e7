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
    return parse(text) ?? null;
  } catch (error) {
    throw new UnreadableRecord(`the record cannot be read as JSON: ${(error as SyntaxError).message}`);
  }
}

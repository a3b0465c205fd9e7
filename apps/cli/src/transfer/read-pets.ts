import { type PetFormat, UnreadableRecord } from '../pet-files/pet-format.ts';
import { readRecords } from '../pet-files/records.ts';
import type { InputFile } from './input-file.ts';

/** A pet as a file has it, unchecked, or why it can't be read. */
export type PetOfFile =
  | { readonly line: number; readonly pet: unknown; readonly error: null }
  | { readonly line: number; readonly pet?: undefined; readonly error: string };

/**
 * The pets of a file in arrays of some thousand.
 *
 * @param onRead Called for each array with the share of the file that was read before, 0 to 1.
 * @throws UnreadableFile
 */
export async function* readPets(
  file: InputFile,
  format: PetFormat,
  onRead: (share: number) => void,
): AsyncGenerator<readonly PetOfFile[]> {
  const read = format.createReader();
  let position = 0;
  async function* counted() {
    for await (const chunk of file.chunks()) {
      onRead(position / file.size);
      position += chunk.length;
      yield chunk;
    }
  }
  for await (const records of readRecords(counted(), format.endOfRecord)) {
    const pets: PetOfFile[] = [];
    for (const { line, text, error } of records) {
      if (error !== null) {
        pets.push({ line, error });
        continue;
      }
      try {
        const pet = read(text);
        if (pet !== undefined) pets.push({ line, pet, error: null });
      } catch (failure) {
        if (!(failure instanceof UnreadableRecord)) throw failure;
        pets.push({ line, error: failure.message });
      }
    }
    yield pets;
  }
}

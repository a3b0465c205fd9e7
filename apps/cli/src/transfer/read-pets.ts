import { MESSAGES } from '../messages.ts';
import { type PetFormat, UnreadableFile, UnreadableRecord } from '../pet-files/pet-format.ts';
import { wrongKind } from '../pet-files/pet-formats.ts';
import { readRecords } from '../pet-files/records.ts';
import type { InputFile } from './input-file.ts';

/** The lines of a record. */
export interface Lines {
  /** The number of the first one, from 1. */
  readonly line: number;
  readonly lastLine: number;
}

/** A pet as a file has it, unchecked, or why it can't be read. */
export type PetOfFile = Lines &
  ({ readonly pet: unknown; readonly error: null } | { readonly pet?: undefined; readonly error: string });

/** What happens to each pet of a file. */
export interface TransferEvents {
  /** @param created Whether the pet did not exist before. */
  onDone(created: boolean): void;
  /** @returns Whether to go on. */
  onRejected(lines: Lines, reason: string): boolean;
}

/**
 * The pets of a file in arrays of some thousand.
 *
 * @param options.signal Ends reading when it is aborted.
 * @param options.onRead Called for each array with the share of the file that was read before, 0 to 1.
 * @throws UnreadableFile
 * @throws CommandFailed if the file can't be read.
 */
export async function* readPets(
  file: InputFile,
  format: PetFormat,
  { signal, onRead }: { readonly signal: AbortSignal; onRead(share: number): void },
): AsyncGenerator<readonly PetOfFile[]> {
  const read = format.createReader();
  let position = 0;
  async function* counted() {
    for await (const chunk of file.chunks()) {
      const hint = position === 0 ? wrongKind(chunk.toString('latin1'), format.name) : null;
      if (hint !== null) throw new UnreadableFile(hint);
      onRead(position / file.size);
      position += chunk.length;
      yield chunk;
    }
  }
  for await (const records of readRecords(counted(), format.createScanner())) {
    if (signal.aborted) return;
    const pets: PetOfFile[] = [];
    for (const { line, lastLine, text, error } of records) {
      if (error !== null) {
        if (line === 1 && format.header !== '') throw new UnreadableFile(MESSAGES.firstLine(error));
        pets.push({ line, lastLine, error });
        continue;
      }
      try {
        const pet = read(text);
        if (pet !== undefined) pets.push({ line, lastLine, pet, error: null });
      } catch (failure) {
        if (!(failure instanceof UnreadableRecord)) throw failure;
        pets.push({ line, lastLine, error: failure.message });
      }
    }
    yield pets;
  }
}

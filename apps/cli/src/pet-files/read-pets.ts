import { isUtf8 } from 'node:buffer';
import { MESSAGES } from '../messages.ts';
import { MAX_RECORD_BYTES, type PetFormat, UnreadableFile, UnreadableRecord } from './pet-format.ts';
import { wrongKind } from './pet-formats.ts';

/** The lines of a record. */
export interface Lines {
  /** The number of the first one, from 1. */
  readonly line: number;
  readonly lastLine: number;
}

/** A pet as a file has it, unchecked, or why it can't be read. */
export type PetOfFile = Lines &
  ({ readonly pet: unknown; readonly error: null } | { readonly pet?: undefined; readonly error: string });

/** A record that continues in the next line. */
interface OpenRecord {
  /** The number of its first line. */
  readonly line: number;
  readonly text: string;
}

const LIMIT = `${MAX_RECORD_BYTES / 1024} KiB`;
const BYTE_ORDER_MARK = /^\u00ef\u00bb\u00bf/;
const BEYOND_ASCII = /[\u0080-\u00ff]/;

/**
 * Reads the pets of a file in UTF-8, chunk by chunk, in memory that does not grow with the file. A
 * byte order mark at the beginning is ignored. Reading continues after a record with an error.
 *
 * @throws UnreadableFile, also while the pets of a chunk are iterated, after those before the error.
 */
export async function* readPets(chunks: AsyncIterable<Buffer>, format: PetFormat): AsyncGenerator<Iterable<PetOfFile>> {
  const reader = format.createReader();
  let lastLine = 0;
  let isBlank = true;
  let open = null as OpenRecord | null;

  function* petsOf(lines: readonly string[]): Generator<PetOfFile> {
    for (const given of lines) {
      const next = lastLine === 0 ? given.replace(BYTE_ORDER_MARK, '') : given;
      lastLine += 1;
      if (isBlank && next.trim() !== '') {
        isBlank = false;
        const hint = wrongKind(next, format.name);
        if (hint !== null) throw new UnreadableFile(hint);
      }
      const { line, text } =
        open === null ? { line: lastLine, text: next } : { ...open, text: `${open.text}\n${next}` };
      open = reader.isOpen(text, next) ? { line, text } : null;
      if (open !== null && text.length > MAX_RECORD_BYTES) {
        throw new UnreadableFile(MESSAGES.recordNotEnded(line, LIMIT));
      }
      const pet = open === null ? petOf(line, text) : null;
      if (pet !== null) yield pet;
    }
  }

  /** @returns null if the record is empty or a header. */
  function petOf(line: number, text: string): PetOfFile | null {
    try {
      if (open !== null) throw new UnreadableRecord(MESSAGES.quoteNotClosed);
      if (text.length > MAX_RECORD_BYTES) throw new UnreadableRecord(MESSAGES.tooLong(LIMIT));
      const pet = reader.read(decoded(text));
      return pet === undefined ? null : { line, lastLine, pet, error: null };
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      if (line === 1 && format.header !== '') throw new UnreadableFile(MESSAGES.firstLine(error.message));
      return { line, lastLine, error: error.message };
    }
  }

  for await (const lines of readLines(chunks)) yield petsOf(lines);
  // An empty file has no header.
  if (lastLine === 0) yield petsOf(['']);
  const last = open && petOf(open.line, open.text);
  if (last !== null) yield [last];
}

/**
 * The lines that end in each chunk, without their line feeds, as Latin-1, which is a copy of the bytes. A line that began in
 * an earlier chunk and is too long for a record is cut off, but stays too long.
 */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = (lines.pop() as string).slice(0, MAX_RECORD_BYTES + 1);
    yield lines;
  }
  if (rest !== '') yield [rest];
}

function decoded(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  if (!isUtf8(bytes)) throw new UnreadableRecord(MESSAGES.notUtf8);
  return bytes.toString();
}

import { stringify } from '@animal-store/exact-json';
import type { TextOutput } from '../context.ts';
import { printable, writeText } from './text.ts';

/** The options of a command that prints records. */
export interface PrintOptions {
  /** JSON lines on a terminal, too. */
  readonly json?: boolean | undefined;
}

type Pages = AsyncIterable<readonly object[]> | Iterable<readonly object[]>;

/** The last column of a table is cut to fit, but not to fewer characters than this. */
const LAST_COLUMN_MIN = 20;

const GAP = '  ';

/** A character that takes two columns of a terminal: CJK and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

/** Prints a record: its members below each other on a terminal, else a line of JSON. */
export async function printRecord(output: TextOutput, record: object, { json }: PrintOptions): Promise<void> {
  const lines = output.isTTY && !json ? recordLines(record) : [stringify(record)];
  for (const line of lines) await writeText(output, `${line}\n`);
}

/**
 * Prints pages of records: a table on a terminal, else a line of JSON for each record.
 *
 * @param columns The columns of the table.
 */
export async function printPages(
  output: TextOutput,
  pages: Pages,
  columns: readonly string[],
  { json }: PrintOptions,
): Promise<void> {
  if (output.isTTY && !json) {
    for await (const line of tableLines(pages, columns, output.columns || Number.POSITIVE_INFINITY)) {
      await writeText(output, `${line}\n`);
    }
    return;
  }
  for await (const page of pages) for (const record of page) await writeText(output, `${stringify(record)}\n`);
}

/**
 * The lines of a table with a head, or one block of lines for each record if the first page is wider than the terminal.
 * Columns become wider with later pages.
 *
 * @param columns Members of the records. The last column may hold text of any width: it is cut to fit.
 * @param width In characters.
 */
async function* tableLines(pages: Pages, columns: readonly string[], width: number): AsyncGenerator<string> {
  let widths = columns.map((column) => column.length);
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd();

  let layout: 'table' | 'blocks' | null = null;
  let separator: readonly string[] = [];
  for await (const page of pages) {
    const rows = page.map((record) => columns.map((column) => cellOf((record as Record<string, unknown>)[column])));
    for (const cells of rows) widths = widths.map((least, column) => Math.max(least, cells[column]?.length ?? 0));
    const room = width - widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
    if (layout === null) {
      layout = room < Math.min(widths.at(-1) ?? 0, LAST_COLUMN_MIN) ? 'blocks' : 'table';
      if (layout === 'table') yield line(columns);
    }
    if (layout === 'table') {
      for (const cells of rows) yield line([...cells.slice(0, -1), cut(cells.at(-1) ?? '', room)]);
      continue;
    }
    for (const record of page) {
      yield* [...separator, ...recordLines(record)];
      separator = [''];
    }
  }
}

/** One record as lines of a name and its value. */
function recordLines(record: object): string[] {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record).map(([name, value]) => `${name.padEnd(width)}${GAP}${cellOf(value)}`.trimEnd());
}

/** A text in at most so many columns of a terminal; an ellipsis stands for the rest. */
function cut(text: string, width: number): string {
  // Each code unit takes two columns at most.
  if (text.length * 2 <= width) return text;
  let [taken, end] = [0, 0];
  for (const character of text) {
    taken += WIDE.test(character) ? 2 : 1;
    if (taken > width) return `${text.slice(0, end)}…`;
    if (taken < width) end += character.length;
  }
  return text;
}

function cellOf(value: unknown): string {
  return printable(String(value ?? ''));
}

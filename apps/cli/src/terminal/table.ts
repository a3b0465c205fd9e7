import { printable } from './text.ts';

/** An object as a command prints it. */
export type PrintedRecord = Readonly<Record<string, unknown>>;

/** How many rows are read before the first is printed: the width of a column is that of its longest cell among them. */
const ROWS_MEASURED = 100;

/** The last column is cut to fit, but not to fewer characters than this. */
const LAST_COLUMN_MIN = 20;

const GAP = '  ';

/** A character that takes two columns of a terminal: CJK and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

/**
 * The lines of a table with a head, or one block of lines for each record if the table is wider than the terminal, without
 * reading more of the records than is printed.
 *
 * @param columns Members of the records. The last column may hold text of any width: it is cut to fit.
 * @param width In characters.
 */
export async function* tableLines(
  records: AsyncIterable<PrintedRecord> | Iterable<PrintedRecord>,
  columns: readonly string[],
  width = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const rest = (async function* () {
    yield* records;
  })();
  const measured: PrintedRecord[] = [];
  while (measured.length < ROWS_MEASURED) {
    const { done, value } = await rest.next();
    if (done) break;
    measured.push(value);
  }
  async function* all() {
    yield* measured;
    yield* rest;
  }
  const cellsOf = (record: PrintedRecord) => columns.map((column) => cellOf(record[column]));
  const widths = widthsOf([[...columns], ...measured.map(cellsOf)]);
  const last = widths.pop() ?? 0;
  const room = width - widths.reduce((sum, each) => sum + each + GAP.length, 0);

  if (room < Math.min(last, LAST_COLUMN_MIN)) {
    let separator: readonly string[] = [];
    for await (const record of all()) {
      yield* [...separator, ...recordLines(record)];
      separator = [''];
    }
    return;
  }
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  yield line(columns);
  for await (const record of all()) {
    const cells = cellsOf(record);
    yield line([...cells.slice(0, -1), cut(cells.at(-1) ?? '', room)]);
  }
}

/** One record as lines of a name and its value. */
export function recordLines(record: PrintedRecord): string[] {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record).map(([name, value]) => `${name.padEnd(width)}${GAP}${cellOf(value)}`.trimEnd());
}

function widthsOf(rows: readonly string[][]): number[] {
  const [head = []] = rows;
  return head.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
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
  return value === undefined || value === null ? '' : printable(String(value));
}

import { printable } from './printable.ts';

/** An object as a command prints it. */
export type PrintedRecord = Readonly<Record<string, unknown>>;

/** How many rows are read before the first is printed: the width of a column is that of its longest cell among them. */
const ROWS_MEASURED = 100;

/**
 * The lines of a table with a head, without reading more of the records than is printed.
 *
 * @param columns Members of the records. The last column may hold text of any width.
 */
export async function* tableLines(
  records: AsyncIterable<PrintedRecord> | Iterable<PrintedRecord>,
  columns: readonly string[],
): AsyncGenerator<string> {
  let widths: readonly number[] | null = null;
  const measured: string[][] = [columns.map((column) => column)];
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths?.[index] ?? 0))
      .join('  ')
      .trimEnd();

  for await (const record of records) {
    const cells = columns.map((column) => cellOf(record[column]));
    if (widths !== null) {
      yield line(cells);
      continue;
    }
    measured.push(cells);
    if (measured.length > ROWS_MEASURED) {
      widths = widthsOf(measured);
      yield* measured.map(line);
    }
  }
  if (widths !== null) return;
  widths = widthsOf(measured);
  yield* measured.map(line);
}

/** One record as lines of a name and its value. */
export function recordLines(record: PrintedRecord): string[] {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record).map(([name, value]) => `${name.padEnd(width)}  ${cellOf(value)}`.trimEnd());
}

function widthsOf(rows: readonly string[][]): number[] {
  const [head = []] = rows;
  return head.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
}

function cellOf(value: unknown): string {
  return value === undefined || value === null ? '' : printable(String(value));
}

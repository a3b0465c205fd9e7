import { stringify } from '@animal-store/exact-json';
import type { TextOutput } from '../context.ts';
import { printable, writeText } from './text.ts';

export interface PrintOptions {
  /** JSON lines on a terminal, too. */
  readonly json?: boolean | undefined;
}

type Pages = AsyncIterable<readonly object[]> | Iterable<readonly object[]>;

const GAP = '  ';

/** Prints a record: its members below each other on a terminal, otherwise a line of JSON. */
export async function printRecord(output: TextOutput, record: object, { json }: PrintOptions): Promise<void> {
  const lines = output.isTTY && !json ? recordLines(record) : [stringify(record)];
  for (const line of lines) await writeText(output, `${line}\n`);
}

/** Prints pages of records: a table with these columns on a terminal, otherwise a line of JSON for each. */
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
 */
async function* tableLines(pages: Pages, columns: readonly string[], width: number): AsyncGenerator<string> {
  let widths = columns.map((column) => column.length);
  const line = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(GAP);

  let layout: 'table' | 'blocks' | null = null;
  let separator: readonly string[] = [];
  for await (const page of pages) {
    const rows = page.map((record) => columns.map((column) => cellOf((record as Record<string, unknown>)[column])));
    for (const cells of rows) widths = widths.map((least, column) => Math.max(least, cells[column]?.length ?? 0));
    if (layout === null) {
      layout = line(columns).length > width ? 'blocks' : 'table';
      if (layout === 'table') yield line(columns).trimEnd();
    }
    if (layout === 'table') {
      for (const cells of rows) yield line(cells).trimEnd();
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

function cellOf(value: unknown): string {
  return printable(String(value ?? ''));
}

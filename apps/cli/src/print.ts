import { once } from 'node:events';
import { stringify } from '@animal-store/exact-json';
import stringWidth from 'string-width';
import type { TextOutput } from './context.ts';
import { printable } from './messages.ts';

/** Erases a line of progress on a terminal. */
const ERASE_LINE = '\r\u001b[K';

/** The columns of a terminal that does not say how many it has. */
const COLUMNS = 80;

/** How many records a table has at most. */
const TABLE_ROWS = 100;

/** Prints a record: a table of its members on a terminal, otherwise a line of JSON. */
export async function print(output: TextOutput, record: object): Promise<void> {
  const text = output.isTTY ? table(Object.entries(record)) : `${stringify(record)}\n`;
  if (!output.write(text)) await once(output, 'drain');
}

/** Prints records as they are read: tables on a terminal, otherwise a line of JSON for each. */
export async function printAll(output: TextOutput, records: Iterable<object> | AsyncIterable<object>): Promise<void> {
  const rows: object[] = [];
  for await (const record of records) {
    if (output.isTTY) rows.push(record);
    else await print(output, record);
    if (rows.length === TABLE_ROWS) output.write(tableOf(rows.splice(0)));
  }
  if (rows.length > 0) output.write(tableOf(rows));
}

/**
 * Redraws a line of progress on a terminal, and erases it if there is no text. Another output has no such line.
 *
 * @param text ASCII. A line that is wider than the terminal would wrap, and only its last row would be erased.
 */
export function drawProgress(output: TextOutput, text = ''): void {
  // Some terminals wrap at their last column, and some say that they have 0.
  if (output.isTTY) output.write(ERASE_LINE + text.slice(0, (output.columns || COLUMNS) - 1));
}

/** A table whose first row has the names of the members. */
function tableOf(records: readonly object[]): string {
  const names = [...new Set(records.flatMap(Object.keys))];
  return table([names, ...records.map((record) => names.map((name) => (record as Record<string, unknown>)[name]))]);
}

function table(rows: readonly (readonly unknown[])[]): string {
  const texts = rows.map((cells) => cells.map((cell) => printable(String(cell ?? ''))));
  const width = (column: number) => Math.max(...texts.map((cells) => stringWidth(cells[column] ?? '')));
  const widths = texts[0]?.map((_, column) => width(column)) ?? [];
  const pad = (text: string, column: number) => text + ' '.repeat((widths[column] ?? 0) - stringWidth(text));
  const line = (cells: string[]) => cells.map(pad).join('  ');
  return texts.map((cells) => `${line(cells).trimEnd()}\n`).join('');
}

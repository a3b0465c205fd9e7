import { stringify } from '@animal-store/exact-json';
import type { TextOutput } from '../context.ts';
import { type PrintedRecord, recordLines, tableLines } from './table.ts';
import { writeText } from './text.ts';

/** The options of a command that prints records. */
export interface PrintOptions {
  /** JSON lines on a terminal, too. */
  readonly json?: boolean | undefined;
}

/** Prints a record: its members below each other on a terminal, else a line of JSON. */
export async function printRecord(output: TextOutput, record: object, { json }: PrintOptions): Promise<void> {
  const lines = output.isTTY && !json ? recordLines(record as PrintedRecord) : [stringify(record)];
  for (const line of lines) await writeText(output, `${line}\n`);
}

/**
 * Prints records: a table on a terminal, else a line of JSON for each.
 *
 * @param columns The columns of the table.
 */
export async function printRecords(
  output: TextOutput,
  records: AsyncIterable<object> | Iterable<object>,
  columns: readonly string[],
  { json }: PrintOptions,
): Promise<void> {
  if (output.isTTY && !json) {
    for await (const line of tableLines(records as Iterable<PrintedRecord>, columns, output.columns || undefined))
      await writeText(output, `${line}\n`);
    return;
  }
  for await (const record of records) await writeText(output, `${stringify(record)}\n`);
}

import { Console } from 'node:console';
import { once } from 'node:events';
import { stringify } from '@animal-store/exact-json';
import type { TextOutput } from './context.ts';

/** How many records a table has at most. */
const TABLE_ROWS = 100;

/** Prints a record: a table on a terminal, otherwise a line of JSON. */
export async function print(output: TextOutput, record: object): Promise<void> {
  if (output.isTTY) new Console(output).table(cells(record));
  else if (!output.write(`${stringify(record)}\n`)) await once(output, 'drain');
}

/** Prints records as they are read: tables on a terminal, otherwise a line of JSON for each. */
export async function printAll(output: TextOutput, records: Iterable<object> | AsyncIterable<object>): Promise<void> {
  let rows: object[] = [];
  for await (const record of records) {
    if (!output.isTTY) {
      await print(output, record);
      continue;
    }
    if (rows.length === TABLE_ROWS) {
      new Console(output).table(rows);
      rows = [];
    }
    rows.push(cells(record));
  }
  if (output.isTTY) new Console(output).table(rows);
}

/** A table would show a bigint as `7n`. */
function cells(record: object): object {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );
}

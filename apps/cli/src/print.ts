import { Console } from 'node:console';
import { once } from 'node:events';
import { stringify } from '@animal-store/exact-json';
import type { TextOutput } from './context.ts';

/** Prints a record, or several: a table on a terminal, otherwise a line of JSON for each. */
export async function print(output: TextOutput, records: object | readonly object[]): Promise<void> {
  if (output.isTTY) {
    new Console(output).table(Array.isArray(records) ? records.map(cells) : cells(records));
    return;
  }
  for (const record of Array.isArray(records) ? records : [records]) {
    if (!output.write(`${stringify(record)}\n`)) await once(output, 'drain');
  }
}

/** A table would show a bigint as `7n`. */
function cells(record: object): object {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );
}

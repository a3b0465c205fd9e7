import type { Sample } from './load.ts';
import type { Measurement } from './measure.ts';
import { median, medianRatio } from './statistics.ts';

/** The median of the rounds. */
export const medianOf = ({ samples }: Measurement, key: keyof Sample): number =>
  median(samples.map((sample) => sample[key]));

const COLUMNS: Readonly<Record<string, keyof Sample>> = {
  'requests a second': 'perSecond',
  'CPU of a request, µs': 'cpu',
  'p99, ms': 'p99',
  'commands of the database': 'commands',
};

/** Machines differ by more. */
const value = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const ratio = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 });

/**
 * The medians of one storage as a table in Markdown, one number in a cell. Behind each number stands its ratio to the first
 * server of the same cell, which is the median of the rounds' ratios.
 *
 * @param runs For each number of pets.
 */
export function measurementTable(title: string, runs: readonly (readonly Measurement[])[]): string {
  const all = runs.flat();
  const columns = Object.entries(COLUMNS).filter(([, key]) => !all.every((one) => Number.isNaN(medianOf(one, key))));
  const head = ['', 'connections', 'pets', 'server', ...columns.flatMap(([name]) => [name, 'ratio'])];
  const first = all[0]?.contender;
  const rows = all
    .toSorted((a, b) => a.workload.localeCompare(b.workload) || a.connections - b.connections)
    .map((one) => {
      const isBase = one.contender === first;
      // The same run: each has one measurement of a contender.
      const base = runs
        .find((run) => run.includes(one))
        ?.find((other) => isSameCell(other, one) && other.contender === first);
      const cells = columns.flatMap(([, key]) => [
        value.format(medianOf(one, key)),
        isBase || base === undefined ? '' : ratio.format(medianRatio(valuesOf(one, key), valuesOf(base, key))),
      ]);
      return [one.workload, String(one.connections), one.pets.toLocaleString('en'), nameOf(one), ...cells];
    });
  return `${title}\n\n${markdown([head, ...rows])}`;
}

const isSameCell = (one: Measurement, other: Measurement) =>
  one.workload === other.workload && one.connections === other.connections;

const valuesOf = ({ samples }: Measurement, key: keyof Sample) => samples.map((sample) => sample[key]);

function nameOf({ contender, samples }: Measurement): string {
  const failed = samples.reduce((sum, sample) => sum + sample.failed, 0);
  return failed === 0 ? contender : `${contender}, ${failed} not successful`;
}

/** Columns as wide as they need to be; the first row is the head. Empty columns are left out. */
export function markdown(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const used = head.map((_, column) => body.some((row) => row[column] !== ''));
  const kept = [head, ...body].map((row) => row.filter((_, column) => used[column]));
  const widths = (kept[0] ?? []).map((_, column) => Math.max(...kept.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |\n`;
  const [first = [], ...rest] = kept.map(line);
  return [first, line(widths.map((width) => '-'.repeat(width))), ...rest].join('');
}

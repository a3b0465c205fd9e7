import type { Measurement, StorageSample } from './measure.ts';
import { median, medianRatio } from './statistics.ts';

/** The median of the rounds. */
export const medianOf = ({ samples }: Measurement, key: keyof StorageSample): number =>
  median(samples.map((sample) => sample[key]));

/** Divides round by round by what another contender measured. */
const ratio = (own: Measurement, base: Measurement, key: keyof StorageSample) =>
  medianRatio(
    own.samples.map((sample) => sample[key]),
    base.samples.map((sample) => sample[key]),
  );

const HEAD = ['requests/s (ratio)', 'p50 ms', 'p99 ms (ratio)', 'CPU µs (ratio)', 'of storage', 'commands', ''];

/** All measurements of a storage; the ratios are those to the first row of each workload. */
export function measurementTable(title: string, measurements: readonly Measurement[]): string {
  const cells = Object.groupBy(measurements, (one) => `${one.workload}, ${plural(one.connections, 'connection')}`);
  const rows = Object.entries(cells).flatMap(([cell, inCell = []]) => {
    const [base] = inCell as [Measurement];
    return [
      [cell],
      ...inCell.map((one) => {
        const value = (key: keyof StorageSample, places: number) =>
          Number.isNaN(medianOf(one, key)) ? '' : medianOf(one, key).toFixed(places);
        const withRatio = (key: keyof StorageSample, places: number) =>
          `${value(key, places)} (${digits(ratio(one, base, key))})`;
        const failed = one.samples.reduce((sum, sample) => sum + sample.failed, 0);
        return [
          `  ${one.contender}, ${plural(one.pets, 'pet')}`,
          ...[withRatio('perSecond', 0), value('p50', 2), withRatio('p99', 2), withRatio('cpu', 1)],
          ...[value('storageCpu', 1), value('commands', 3)],
          failed === 0 ? '' : `${failed} not successful`,
        ];
      }),
    ];
  });
  return table([[title, ...HEAD], ...rows]);
}

/** The ratios of one contender to another as a table in Markdown, by workload; a slash between numbers of connections. */
export function ratioTable(measurements: readonly Measurement[], contender: string, base: string): string {
  const connections = [...new Set(measurements.map((one) => one.connections))].sort((a, b) => a - b);
  const rows = Object.entries(Object.groupBy(measurements, ({ workload }) => workload)).map(
    ([workload, inRow = []]) => {
      const each = (key: keyof StorageSample) =>
        connections
          .map((count) => {
            const find = (name: string) => inRow.find((one) => one.connections === count && one.contender === name);
            const [own, other] = [find(contender), find(base)];
            return own && other ? digits(ratio(own, other, key)) : '';
          })
          .join('/');
      return [workload, each('perSecond'), each('p99'), each('cpu')];
    },
  );
  const head = [`${connections.join('/')} connections`, `${contender} / ${base}`, 'p99', 'CPU'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}

export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** Two digits: the machines differ by more. */
const digits = (value: number) => (value < 10 ? String(Number(value.toPrecision(2))) : value.toFixed(0));

/** Columns as wide as they need to be; the first to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)));
  return `${rows.map((row) => line(row).join('  ').trimEnd()).join('\n')}\n`;
}

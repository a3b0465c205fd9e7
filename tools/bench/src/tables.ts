import type { Measurement, StorageSample } from './measure.ts';
import { median, ratioOf } from './statistics.ts';

/** The median of the rounds. */
export const medianOf = ({ samples }: Measurement, key: keyof StorageSample): number =>
  median(samples.map((sample) => sample[key]));

/** Divides round by round by what another contender measured. */
const ratio = (own: Measurement, base: Measurement, key: keyof StorageSample) =>
  ratioOf(
    own.samples.map((sample) => sample[key]),
    base.samples.map((sample) => sample[key]),
  );

const HEAD = ['requests/s', 'ratio (quartiles)', 'p50 ms', 'p99 ms (ratio)', 'CPU µs (ratio)'];
const STORAGE_HEAD = ['of storage', 'commands'];

/** All measurements of a storage; the ratios are those to the first row of each workload. */
export function measurementTable(title: string, measurements: readonly Measurement[]): string {
  const sizes = new Set(measurements.map(({ pets }) => pets));
  const label = ({ contender, pets }: Measurement) => (sizes.size > 1 ? plural(pets, 'pet') : contender);
  const hasServer = measurements.some((one) => !Number.isNaN(medianOf(one, 'commands')));
  const rows = Object.entries(byCell(measurements)).flatMap(([cell, inCell = []]) => {
    const [base] = inCell as [Measurement];
    return [
      [`${cell}`],
      ...inCell.map((one) => {
        const speed = ratio(one, base, 'perSecond');
        const withRatio = (key: 'p99' | 'cpu', text: (value: number) => string) =>
          `${text(medianOf(one, key))} (${digits(ratio(one, base, key).median)})`;
        const failed = one.samples.reduce((sum, sample) => sum + sample.failed, 0);
        return [
          `  ${label(one)}`,
          format(medianOf(one, 'perSecond')),
          one === base ? '1' : `${digits(speed.median)} (${digits(speed.lower)} to ${digits(speed.upper)})`,
          medianOf(one, 'p50').toFixed(2),
          withRatio('p99', (value) => value.toFixed(2)),
          withRatio('cpu', (value) => value.toFixed(1)),
          ...(hasServer ? [medianOf(one, 'storageCpu').toFixed(1), medianOf(one, 'commands').toFixed(3)] : []),
          failed === 0 ? '' : `${failed} not successful`,
        ];
      }),
    ];
  });
  return table([[title, ...HEAD, ...(hasServer ? STORAGE_HEAD : []), ''], ...rows]);
}

const byCell = (measurements: readonly Measurement[]) =>
  Object.groupBy(measurements, ({ workload, connections }) => `${workload}, ${plural(connections, 'connection')}`);

/** The ratios of one contender to another as a table in Markdown, by workload; a slash between numbers of connections. */
export function ratioTable(measurements: readonly Measurement[], contender: string, base: string): string {
  const connections = [...new Set(measurements.map((one) => one.connections))].sort((a, b) => a - b);
  const rows = Object.entries(Object.groupBy(measurements, ({ workload }) => workload)).map(
    ([workload, inRow = []]) => {
      const each = (text: (own: Measurement, base: Measurement) => string) =>
        connections
          .map((count) => {
            const inCell = inRow.filter((one) => one.connections === count);
            const own = inCell.find((one) => one.contender === contender);
            const other = inCell.find((one) => one.contender === base);
            return own && other ? text(own, other) : '';
          })
          .join('/');
      return [
        workload,
        each((own, other) => digits(ratio(own, other, 'perSecond').median)),
        each((own, other) => {
          const { lower, upper } = ratio(own, other, 'perSecond');
          return `${digits(lower)}–${digits(upper)}`;
        }),
        each((own, other) => digits(ratio(own, other, 'p99').median)),
        each((own, other) => digits(ratio(own, other, 'cpu').median)),
      ];
    },
  );
  const head = [`${connections.join('/')} connections`, `${contender} / ${base}`, 'quartiles', 'p99', 'CPU'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}

export const plural = (count: number, noun: string): string => `${format(count)} ${noun}${count === 1 ? '' : 's'}`;

const format = (value: number) => Math.round(value).toLocaleString('en');

/** Two digits: the machines differ by more. */
const digits = (value: number) => (value < 10 ? String(Number(value.toPrecision(2))) : value.toFixed(0));

/** Columns as wide as they need to be; the first to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)));
  return `${rows.map((row) => line(row).join('  ').trimEnd()).join('\n')}\n`;
}

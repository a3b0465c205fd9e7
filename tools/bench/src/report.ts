import type { Sample } from './load.ts';
import type { Measurement } from './results.ts';
import { median, type Ratio, ratioOf } from './statistics.ts';

/** The median of the rounds. */
export const medianOf = ({ samples }: Pick<Measurement, 'samples'>, key: keyof Sample): number =>
  median(samples.map((sample) => sample[key]));

/** What a server measured, divided by what another one did in the same round. */
function ratioTo(base: Measurement, { samples }: Measurement, key: keyof Sample): Ratio {
  const values = (of: readonly Sample[]) => of.map((sample) => sample[key]);
  return ratioOf(values(samples), values(base.samples));
}

/** One workload on all servers of a group, the first of which is the base of the ratios. */
export function workloadTable(measurements: readonly Measurement[]): string {
  const [base] = measurements;
  if (base === undefined) return '';
  const { group, workload, connections } = base;
  const rows = measurements.map((measurement) => [
    `  ${measurement.server}`,
    count(medianOf(measurement, 'perSecond')),
    measurement === base ? '1' : ratioText(ratioTo(base, measurement, 'perSecond')),
    medianOf(measurement, 'p50').toFixed(2),
    medianOf(measurement, 'p99').toFixed(2),
    medianOf(measurement, 'cpu').toFixed(1),
    failures(measurement),
  ]);
  const title = `${group}: ${workload}, ${connections} connection${connections === 1 ? '' : 's'}`;
  return table([[title, 'requests/s', 'ratio (spread)', 'p50 ms', 'p99 ms', 'CPU µs', ''], ...rows]);
}

/** A server's ratios to the base of its group, by workload and connections. */
export function ratioTable(measurements: readonly Measurement[], server: string, key: keyof Sample): string {
  const groups = Object.entries(Object.groupBy(measurements, ({ group }) => group));
  return groups.map(([group, inGroup = []]) => groupRatios(group, inGroup, server, key)).join('\n');
}

const QUANTITIES = {
  perSecond: 'requests a second',
  cpu: 'CPU time for a request',
  p50: 'median latency',
  p99: 'p99 latency',
  busy: 'load',
  succeeded: 'successes',
  failed: 'failures',
  unavailable: 'responses 503',
} satisfies Record<keyof Sample, string>;

function groupRatios(group: string, measurements: readonly Measurement[], server: string, key: keyof Sample): string {
  const base = measurements[0]?.server;
  const connections = [...new Set(measurements.map((one) => one.connections))].sort((a, b) => a - b);
  const workloads = [...new Set(measurements.map(({ workload }) => workload))];
  const rows = workloads.map((workload) => [
    `  ${workload}`,
    ...connections.map((count) => {
      const cell = measurements.filter((one) => one.workload === workload && one.connections === count);
      const own = cell.find((one) => one.server === server);
      const other = cell.find((one) => one.server === base);
      return own && other ? ratioText(ratioTo(other, own, key)) : '';
    }),
  ]);
  return table([
    [`${QUANTITIES[key]}, ${group}: ${server} / ${base}`, ...connections.map((count) => `${count} conn.`)],
    ...rows,
  ]);
}

function failures(measurement: Measurement): string {
  const failed = measurement.samples.reduce((sum, sample) => sum + sample.failed, 0);
  return failed === 0 ? '' : `${failed} not successful`;
}

const count = (value: number) => Math.round(value).toLocaleString('en');

const ratioText = ({ median, lower, upper }: Ratio) => `${digits(median)} (${digits(lower)} to ${digits(upper)})`;

const digits = (value: number) => (value < 10 ? value.toFixed(2) : value.toFixed(0));

/** Columns as wide as they need to be; the first to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)));
  return `${rows.map((row) => line(row).join('  ').trimEnd()).join('\n')}\n`;
}

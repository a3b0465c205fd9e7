import type { Sample } from './load.ts';
import type { Measurement } from './measure.ts';
import { median, medianRatio } from './statistics.ts';

/** The median of the rounds. */
const medianOf = ({ samples }: Measurement, key: keyof Sample): number => median(samples.map((sample) => sample[key]));

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
 * The medians of one storage as a table in Markdown: a slash between the numbers of connections, and in brackets the ratio
 * to the first row of the workload, which is the median of the rounds' ratios.
 *
 * @param runs For each number of pets.
 */
export function measurementTable(title: string, runs: readonly (readonly Measurement[])[]): string {
  const all = runs.flat();
  const columns = Object.entries(COLUMNS).filter(([, key]) => !all.every((one) => Number.isNaN(medianOf(one, key))));
  const rows = [...new Set(all.map(({ workload }) => workload))].flatMap((workload) => {
    const servers = runs.flatMap((run) => {
      const inRun = run.filter((one) => one.workload === workload);
      return Object.values(Object.groupBy(inRun, ({ contender }) => contender)) as Measurement[][];
    });
    return servers.map((each, row) => [
      row === 0 ? workload : '',
      nameOf(each, runs.length > 1),
      ...columns.map(([, key]) =>
        each.map((one, at) => cell(one, row === 0 ? null : (servers[0]?.[at] as Measurement), key)).join(' / '),
      ),
    ]);
  });
  const connections = [...new Set(all.map((one) => one.connections))].join(' / ');
  return markdown([[`${title}, ${connections} connections`, '', ...columns.map(([name]) => name)], ...rows]);
}

function nameOf(measurements: readonly Measurement[], withPets: boolean): string {
  const [{ contender, pets }] = measurements as [Measurement];
  const samples = measurements.flatMap((one) => one.samples);
  const failed = samples.reduce((sum, sample) => sum + sample.failed, 0);
  return [
    contender,
    ...(withPets ? [`${pets.toLocaleString('en')} pets`] : []),
    ...(failed === 0 ? [] : [`${failed} not successful`]),
  ].join(', ');
}

function cell(own: Measurement, base: Measurement | null, key: keyof Sample): string {
  const shown = value.format(medianOf(own, key));
  if (base === null) return shown;
  const [ours, others] = [own, base].map(({ samples }) => samples.map((sample) => sample[key])) as [number[], number[]];
  return `${shown} (${ratio.format(medianRatio(ours, others))})`;
}

/** Columns as wide as they need to be; the first row is the head. */
export function markdown(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |\n`;
  const [head = [], ...body] = rows.map(line);
  return [head, line(widths.map((width) => '-'.repeat(width))), ...body].join('');
}

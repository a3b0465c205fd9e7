import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ANIMAL_STORE } from '../groups.ts';
import type { BenchOptions } from '../options.ts';
import type { Progress } from '../progress.ts';
import { medianOf } from '../report.ts';
import { type Measurement, readJson, readMeasurements } from '../results.ts';
import { STORAGES } from '../storages.ts';
import { barChart, lineChart } from '../svg.ts';
import type { Growth } from './growth.ts';

const CHARTS = fileURLToPath(new URL('../../../../docs/charts/', import.meta.url));

const format = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 });

/** Writes the charts that docs/ shows from the results of the suites `peers` and `growth`. */
export async function run({ out }: BenchOptions, progress: Progress): Promise<void> {
  mkdirSync(CHARTS, { recursive: true });
  const write = (name: string, chart: string) => {
    writeFileSync(`${CHARTS}${name}.svg`, chart);
    console.log(`docs/charts/${name}.svg`);
  };
  const groups = Object.entries(Object.groupBy(readMeasurements(join(out, 'peers.json')), ({ group }) => group));
  if (groups.length === 0) progress.warn(`NO CHART of peers: ${out} has no peers.json`);
  for (const [group, measurements = []] of groups) {
    write(`peers-${group.toLowerCase().replaceAll(' ', '-')}`, peersChart(group, measurements));
  }
  for (const storage of STORAGES) {
    const growth = readJson<Growth>(join(out, `growth-${storage}.json`));
    if (growth === null) progress.warn(`NO CHART of ${storage}: ${out} has no growth-${storage}.json`);
    else write(`growth-${storage}`, growthChart(growth));
  }
}

function peersChart(group: string, measurements: readonly Measurement[]): string {
  const categories = [...new Set(measurements.map(({ workload }) => workload))];
  const counts = [...new Set(measurements.map(({ connections }) => connections))].sort((a, b) => a - b);
  // The service first: it has the first color.
  const servers = new Set([ANIMAL_STORE, ...measurements.map(({ server }) => server)]);
  return barChart({
    title: `Requests a second ${group}`,
    panels: counts.map((count) => `${count} connection${count === 1 ? '' : 's'}`),
    series: [...servers].map((name) => ({
      name,
      values: counts.map((count) =>
        categories.map((workload) => {
          const found = measurements.find(
            (one) => one.server === name && one.workload === workload && one.connections === count,
          );
          return found === undefined ? Number.NaN : medianOf(found, 'perSecond');
        }),
      ),
    })),
    categories,
    format: format.format,
  });
}

const TITLES = { memory: 'in memory', sqlite: 'in a SQLite file', mongodb: 'on MongoDB' } as const;

function growthChart({ storage, sizes, workloads }: Growth): string {
  return lineChart({
    title: `CPU µs of the service for a request, by the number of pets, ${TITLES[storage]}`,
    series: Object.entries(workloads).map(([name, measured]) => ({
      name,
      values: measured.map((one) => medianOf(one, 'cpu')),
    })),
    positions: sizes,
    unit: 'pets',
  });
}

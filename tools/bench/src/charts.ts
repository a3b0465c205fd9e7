import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ANIMAL_STORE } from './groups.ts';
import { medianOf, ratioTo } from './report.ts';
import type { Measurement } from './results.ts';
import { barChart } from './svg.ts';

const CONNECTIONS = 32;

/** Writes two charts for each group: how many requests, and how long the slowest of a hundred takes. */
export function writeCharts(folder: string, measurements: readonly Measurement[]): void {
  const groups = Object.groupBy(
    measurements.filter(({ connections }) => connections === CONNECTIONS),
    ({ group }) => group,
  );
  for (const [group, inGroup = []] of Object.entries(groups)) {
    const file = (quantity: string) => join(folder, `${group.replaceAll(' ', '-')}-${quantity}.svg`);
    const base = inGroup[0]?.server;
    writeFileSync(
      file('requests'),
      chart(
        inGroup,
        `Requests a second ${group}, ${CONNECTIONS} connections, as multiples of ${base}`,
        (one, workload) => {
          const other = inGroup.find((each) => each.workload === workload && each.server === base);
          return other === undefined ? Number.NaN : ratioTo(other, one, 'perSecond').median;
        },
      ),
    );
    writeFileSync(
      file('p99'),
      chart(inGroup, `p99 latency ${group}, ${CONNECTIONS} connections, in milliseconds`, (one) =>
        medianOf(one, 'p99'),
      ),
    );
  }
}

function chart(
  measurements: readonly Measurement[],
  title: string,
  read: (measurement: Measurement, workload: string) => number,
): string {
  const categories = [...new Set(measurements.map(({ workload }) => workload))];
  // The service first: it has the first color.
  const servers = [...new Set([ANIMAL_STORE, ...measurements.map(({ server }) => server)])];
  const series = servers.map((name) => ({
    name,
    values: categories.map((workload) => {
      const found = measurements.find((one) => one.server === name && one.workload === workload);
      return found === undefined ? Number.NaN : read(found, workload);
    }),
  }));
  return barChart({ title, series, categories, format: (value) => value.toPrecision(value < 10 ? 2 : 3) });
}

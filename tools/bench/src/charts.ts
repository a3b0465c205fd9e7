import { writeFileSync } from 'node:fs';
import type { Measurement } from './measure.ts';
import { ANIMAL_STORE } from './peers.ts';
import { medianOf, plural } from './tables.ts';

export function writeChart(name: string, chart: string): void {
  writeFileSync(new URL(`../../../docs/charts/${name}.svg`, import.meta.url), chart);
  console.log(`docs/charts/${name}.svg`);
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
const ascending = (values: readonly number[]) => distinct(values).sort((a, b) => a - b);

/** Requests a second: a panel for each number of connections, a bar for each server. */
export function requestsChart(title: string, all: readonly Measurement[]): string {
  return barChart({
    title: `Requests a second ${title}`,
    panels: ascending(all.map(({ connections }) => connections)).map(connectionsOf),
    // The service first: it has the first color.
    series: distinct([ANIMAL_STORE, ...all.map(({ contender }) => contender)]),
    categories: distinct(all.map(({ workload }) => workload)),
    bars: all.map((one) => ({
      panel: connectionsOf(one.connections),
      series: one.contender,
      category: one.workload,
      value: medianOf(one, 'perSecond'),
    })),
  });
}

/** CPU time of a request: a bar for each number of pets. */
export function growthChart(title: string, all: readonly Measurement[]): string {
  const petsOf = (count: number) => plural(count, 'pet');
  return barChart({
    title: `CPU time of the service for a request ${title}`,
    panels: ['µs'],
    series: ascending(all.map(({ pets }) => pets)).map(petsOf),
    categories: distinct(all.map(({ workload }) => workload)),
    bars: all.map((one) => ({
      panel: 'µs',
      series: petsOf(one.pets),
      category: one.workload,
      value: medianOf(one, 'cpu'),
    })),
  });
}

const connectionsOf = (count: number) => plural(count, 'connection');

interface BarChart {
  readonly title: string;
  /** Side by side, each with a scale of its own. */
  readonly panels: readonly string[];
  /** Groups of bars in each panel. */
  readonly categories: readonly string[];
  /** The bars of each group. */
  readonly series: readonly string[];
  readonly bars: readonly { panel: string; series: string; category: string; value: number }[];
}

/** Okabe and Ito's colors, which people with colour blindness can tell apart. The first one is for the service. */
const COLORS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#999999'];
const STYLE = `<style>
  text { font: 12px system-ui, sans-serif; fill: #6e7781 }
  .title { font-size: 15px; font-weight: 600 }
  .panel { font-weight: 600 }
</style>`;

const WIDTH = 820;
const LEFT = 162;
const TOP = 78;
const BAR = 12;
/** Space for the number at the end of the longest bar. */
const NUMBER = 60;

const format = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 });

/** As SVG that is readable on light and dark pages. */
function barChart({ title, panels, categories, series, bars }: BarChart): string {
  const groupHeight = series.length * BAR + 14;
  const width = (WIDTH - LEFT) / panels.length;
  const parts = [text(14, 20, title, 'class="title"')];
  let legend = 14;
  for (const [index, name] of series.entries()) {
    parts.push(rectangle(legend, 31, 10, index), text(legend + 15, 40, name));
    legend += 30 + name.length * 6.6;
  }
  for (const [group, category] of categories.entries()) {
    const middle = TOP + group * groupHeight + (series.length * BAR) / 2;
    parts.push(text(LEFT - 10, middle + 4, category, 'text-anchor="end"'));
  }
  for (const [at, panel] of panels.entries()) {
    const left = LEFT + at * width;
    const inPanel = bars.filter((bar) => bar.panel === panel);
    const scale = (width - NUMBER) / Math.max(...inPanel.map(({ value }) => value));
    parts.push(text(left, 62, panel, 'class="panel"'));
    for (const bar of inPanel) {
      const index = series.indexOf(bar.series);
      const y = TOP + categories.indexOf(bar.category) * groupHeight + index * BAR;
      const length = bar.value * scale;
      parts.push(rectangle(left, y, length, index), text(left + length + 4, y + 9, format.format(bar.value)));
    }
  }
  const height = TOP + categories.length * groupHeight;
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  const opening = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${title}">`;
  return `${[opening, STYLE, ...parts, '</svg>'].join('\n')}\n`;
}

const rectangle = (x: number, y: number, width: number, series: number) =>
  `<rect x="${fixed(x)}" y="${y}" width="${fixed(width)}" height="10" fill="${COLORS[series % COLORS.length]}"/>`;

const text = (x: number, y: number, content: string, attributes = '') =>
  `<text x="${fixed(x)}" y="${fixed(y)}" ${attributes}>${content}</text>`;

const fixed = (value: number) => Number(value.toFixed(1));

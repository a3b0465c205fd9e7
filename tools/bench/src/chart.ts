import { mkdirSync, writeFileSync } from 'node:fs';
import type { Measurement } from './measure.ts';
import { ANIMAL_STORE } from './peers.ts';
import { medianOf, plural } from './tables.ts';

/** Okabe and Ito's colors, which people with colour blindness can tell apart. The first one is for the service. */
const COLORS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7'];
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

/** Writes the requests a second as SVG to docs/charts: a panel for each number of connections, a bar for each server. */
export function writeChart(name: string, title: string, all: readonly Measurement[]): void {
  const panels = [...new Set(all.map(({ connections }) => connections))].sort((a, b) => a - b);
  const servers = [...new Set([ANIMAL_STORE, ...all.map(({ contender }) => contender)])];
  const workloads = [...new Set(all.map(({ workload }) => workload))];
  const groupHeight = servers.length * BAR + 14;
  const width = (WIDTH - LEFT) / panels.length;
  const parts = [text(14, 20, `Requests a second ${title}`, 'class="title"')];
  let legend = 14;
  for (const [index, server] of servers.entries()) {
    parts.push(rectangle(legend, 31, 10, index), text(legend + 15, 40, server));
    legend += 30 + server.length * 6.6;
  }
  for (const [group, workload] of workloads.entries()) {
    parts.push(
      text(LEFT - 10, TOP + group * groupHeight + (servers.length * BAR) / 2 + 4, workload, 'text-anchor="end"'),
    );
  }
  for (const [at, connections] of panels.entries()) {
    const left = LEFT + at * width;
    const inPanel = all.filter((one) => one.connections === connections);
    const scale = (width - NUMBER) / Math.max(...inPanel.map((one) => medianOf(one, 'perSecond')));
    parts.push(text(left, 62, plural(connections, 'connection'), 'class="panel"'));
    for (const one of inPanel) {
      const index = servers.indexOf(one.contender);
      const value = medianOf(one, 'perSecond');
      const y = TOP + workloads.indexOf(one.workload) * groupHeight + index * BAR;
      parts.push(rectangle(left, y, value * scale, index), text(left + value * scale + 4, y + 9, format.format(value)));
    }
  }
  const height = TOP + workloads.length * groupHeight;
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  const opening = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="Requests a second ${title}">`;
  const file = new URL(`../../../docs/charts/requests-${name}.svg`, import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${[opening, STYLE, ...parts, '</svg>'].join('\n')}\n`);
}

const rectangle = (x: number, y: number, width: number, series: number) =>
  `<rect x="${fixed(x)}" y="${y}" width="${fixed(width)}" height="10" fill="${COLORS[series]}"/>`;

const text = (x: number, y: number, content: string, attributes = '') =>
  `<text x="${fixed(x)}" y="${fixed(y)}" ${attributes}>${content}</text>`;

const fixed = (value: number) => Number(value.toFixed(1));

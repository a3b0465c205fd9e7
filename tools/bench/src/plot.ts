import type { Measurement } from './measure.ts';
import { animalStore } from './peers.ts';
import { medianOf } from './tables.ts';

/** What a plot shows of measurements: a panel for each workload, a line for each contender. */
export interface Axes {
  readonly title: string;
  /** The value of a point, from 0 up. */
  readonly y: { readonly key: 'perSecond' | 'cpu'; readonly label: string };
  /** The place of a point: its values stand at equal distances. */
  readonly x: { readonly key: 'connections' | 'pets'; readonly label: string };
}

const COLUMNS = 2;
const PANEL = { width: 370, height: 210 };
const PLOT = { left: 58, top: 34, width: 290, height: 130 };
const HEAD = 58;
const MARGIN = 14;
/** Lines differ in color, dash and mark: nobody needs to distinguish colors. */
const DASHES = ['', '7 4', '2 4', '9 3 2 3'];

/** A picture reads the color scheme of its viewer (Media Queries 5, prefers-color-scheme), also in an img element. */
const STYLE = `
  .card { fill: #ffffff; } .grid { stroke: #d8dee4; } text { fill: #1f2328; }
  .line { fill: none; stroke-width: 2.5; }
  .s0 { stroke: #0b5fce; --ink: #0b5fce; } .s1 { stroke: #b35900; --ink: #b35900; } .s2 { stroke: #6e3fb8; --ink: #6e3fb8; }
  .s3 { stroke: #1a7f37; --ink: #1a7f37; }
  .mark { fill: var(--ink); }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; } .grid { stroke: #30363d; } text { fill: #e6edf3; }
    .s0 { stroke: #6cb0ff; --ink: #6cb0ff; } .s1 { stroke: #f0a35e; --ink: #f0a35e; } .s2 { stroke: #c7a5ff; --ink: #c7a5ff; }
    .s3 { stroke: #56d364; --ink: #56d364; }
  }`;

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** The medians of measurements as an SVG picture, readable in light and dark. */
export function plot(measurements: readonly Measurement[], { title, x, y }: Axes): string {
  const workloads = distinct(measurements.map(({ workload }) => workload));
  // The service is the first line, whichever contender is the base of the ratios.
  const contenders = distinct(measurements.map(({ contender }) => contender)).sort((a, b) => isOwn(b) - isOwn(a));
  const columns = Math.min(COLUMNS, workloads.length);
  const width = columns * PANEL.width + 2 * MARGIN;
  const height = HEAD + Math.ceil(workloads.length / columns) * PANEL.height + MARGIN;
  const panels = workloads.map((workload, index) => {
    const own = measurements.filter((one) => one.workload === workload);
    const left = MARGIN + (index % columns) * PANEL.width;
    const top = HEAD + Math.floor(index / columns) * PANEL.height;
    return `<g transform="translate(${left} ${top})">${panel(own, workload, contenders, { title, x, y })}</g>`;
  });
  const legend = contenders.map((name, index) => {
    const left = MARGIN + 4 + index * 190;
    return line(`M${left} 42h30`, index) + mark(left + 15, 42, index) + text(left + 38, 46, name);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="card" width="${width}" height="${height}" rx="8"/>`,
    text(MARGIN + 4, 24, title, 'font-size="15" font-weight="bold"'),
    ...legend,
    ...panels,
    '</svg>\n',
  ].join('\n');
}

function panel(own: readonly Measurement[], workload: string, contenders: readonly string[], { x, y }: Axes): string {
  const places = distinct(own.map((one) => one[x.key])).sort((a, b) => a - b);
  const highest = Math.max(...own.map((one) => medianOf(one, y.key)));
  const step = stepOf(highest);
  const top = Math.ceil(highest / step) * step;
  const across = (value: number) => {
    const share = places.length === 1 ? 0.5 : places.indexOf(value) / (places.length - 1);
    return round(PLOT.left + PLOT.width * (0.04 + 0.92 * share));
  };
  const up = (value: number) => round(PLOT.top + PLOT.height * (1 - value / top));
  const { left, width, height } = PLOT;
  const bottom = PLOT.top + height;
  const grid = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step).flatMap((value) => [
    `<path class="grid" d="M${left} ${up(value)}h${width}"/>`,
    text(left - 6, up(value) + 4, compact.format(value), 'text-anchor="end"'),
  ]);
  const ticks = places.map((place) => text(across(place), bottom + 17, compact.format(place), 'text-anchor="middle"'));
  const lines = contenders.flatMap((contender, index) => {
    const points = own
      .filter((one) => one.contender === contender)
      .map((one) => [across(one[x.key]), up(medianOf(one, y.key))] as const)
      .sort(([a], [b]) => a - b);
    if (points.length === 0) return [];
    return [
      line(`M${points.map((point) => point.join(' ')).join('L')}`, index),
      ...points.map(([a, b]) => mark(a, b, index)),
    ];
  });
  return [
    text(left, 20, `${workload}: ${y.label}`, 'font-weight="bold"'),
    ...grid,
    ...ticks,
    text(left + width / 2, bottom + 34, x.label, 'text-anchor="middle"'),
    ...lines,
  ].join('\n');
}

/** A step of 1, 2 or 5 times a power of ten that makes five lines at most. */
function stepOf(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(highest / 5));
  return ([1, 2, 5, 10].find((factor) => factor * power * 5 >= highest) as number) * power;
}

const isOwn = (contender: string) => Number(contender === animalStore.name);

const line = (path: string, index: number) =>
  `<path class="line s${index}" stroke-dasharray="${DASHES[index] ?? ''}" d="${path}"/>`;

function mark(x: number, y: number, index: number): string {
  const shapes = [
    `<circle cx="${x}" cy="${y}" r="4"/>`,
    `<rect x="${x - 4}" y="${y - 4}" width="8" height="8"/>`,
    `<path d="M${x} ${y - 5}l5 9h-10z"/>`,
    `<path d="M${x} ${y - 5}l5 5l-5 5l-5 -5z"/>`,
  ];
  return `<g class="s${index}" stroke="none"><g class="mark">${shapes[index] ?? shapes[0]}</g></g>`;
}

const text = (x: number, y: number, words: string, attributes = '') =>
  `<text x="${x}" y="${y}" ${attributes}>${escapeXml(words)}</text>`;

const escapeXml = (words: string) => words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const round = (value: number) => Math.round(value * 10) / 10;

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

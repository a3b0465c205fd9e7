// Charts as SVG: readable on light and dark pages, with every value written beside its mark.

const WIDTH = 820;
const MARGIN = 14;
/** Okabe and Ito's colors, which people with colour blindness can tell apart. The first one is for the service. */
const COLORS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#999999'];
const STYLE = `<style>
  text { font: 12px system-ui, sans-serif; fill: #6e7781 }
  .title { font-size: 15px; font-weight: 600 }
  line, .grid { stroke: #6e7781; stroke-opacity: .3 }
</style>`;

export interface Series {
  readonly name: string;
  /** One for each category or position; NaN if there is none. */
  readonly values: readonly number[];
}

interface Chart {
  readonly title: string;
  readonly series: readonly Series[];
}

const BAR = 14;
const GROUP_GAP = 14;
const LABELS = 150;

/** Horizontal bars, grouped by category. */
export function barChart({
  title,
  series,
  categories,
  format,
}: Chart & {
  readonly categories: readonly string[];
  readonly format: (value: number) => string;
}): string {
  const top = 58;
  const groupHeight = series.length * BAR + GROUP_GAP;
  const longest = Math.max(...series.flatMap(({ values }) => values.filter((value) => !Number.isNaN(value))));
  const scale = (WIDTH - LABELS - MARGIN - 60) / longest;
  const bars = categories.flatMap((category, group) => {
    const y = top + group * groupHeight;
    const label = text(LABELS - 10, y + (series.length * BAR) / 2 + 4, category, 'text-anchor="end"');
    const marks = series.map(({ values }, index) => {
      const value = values[group] ?? Number.NaN;
      if (Number.isNaN(value)) return '';
      const barY = y + index * BAR;
      const bar = `<rect x="${LABELS}" y="${barY}" width="${fixed(value * scale)}" height="${BAR - 2}" fill="${color(index)}"/>`;
      return bar + text(LABELS + value * scale + 5, barY + 10, format(value));
    });
    return [label, ...marks];
  });
  return svg(top + categories.length * groupHeight, title, [legend(series, 40), ...bars]);
}

const PLOT = { left: 62, top: 64, width: WIDTH - 62 - 170, height: 260 };

/** Lines over a logarithmic axis, each with its name at its end. */
export function lineChart({
  title,
  series,
  positions,
  unit,
  positionUnit,
}: Chart & {
  readonly positions: readonly number[];
  readonly unit: string;
  readonly positionUnit: string;
}): string {
  const { left, top, width, height } = PLOT;
  const [first = 1] = positions;
  const decades = Math.log10((positions.at(-1) ?? 1) / first) || 1;
  const x = (position: number) => left + (Math.log10(position / first) / decades) * width;
  const greatest = niceCeiling(
    Math.max(...series.flatMap(({ values }) => values.filter((value) => !Number.isNaN(value)))),
  );
  const y = (value: number) => top + height - (value / greatest) * height;
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const lineY = fixed(y(share * greatest));
    return [
      `<line x1="${left}" x2="${left + width}" y1="${lineY}" y2="${lineY}"/>`,
      text(left - 8, y(share * greatest) + 4, String(Number((share * greatest).toPrecision(3))), 'text-anchor="end"'),
    ];
  });
  const ticks = positions.map((position) =>
    text(x(position), top + height + 20, position.toLocaleString('en'), 'text-anchor="middle"'),
  );
  const lines = series.map(({ values }, index) => {
    const points = positions
      .map((position, at) => ({ position, value: values[at] ?? Number.NaN }))
      .filter(({ value }) => !Number.isNaN(value));
    const path = points.map(({ position, value }) => `${fixed(x(position))},${fixed(y(value))}`).join(' ');
    const dots = points.map(
      ({ position, value }) =>
        `<circle cx="${fixed(x(position))}" cy="${fixed(y(value))}" r="3" fill="${color(index)}"/>`,
    );
    return `<polyline points="${path}" fill="none" stroke="${color(index)}" stroke-width="2"/>${dots.join('')}`;
  });
  return svg(top + height + 48, title, [
    legend(series, 40),
    ...grid,
    ...ticks,
    text(left + width / 2, top + height + 40, positionUnit, 'text-anchor="middle"'),
    text(left + width + 12, top + 4, unit),
    ...lines,
  ]);
}

function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

function legend(series: readonly Series[], y: number): string {
  let x = MARGIN;
  const entries = series.map(({ name }, index) => {
    const entry = `<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${color(index)}"/>${text(x + 15, y, name)}`;
    x += 30 + name.length * 6.6;
    return entry;
  });
  return entries.join('');
}

function svg(height: number, title: string, parts: readonly string[]): string {
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  const heading = text(MARGIN, 20, title, 'class="title"');
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escapeXml(title)}">\n${STYLE}\n${[heading, ...parts].join('\n')}\n</svg>\n`;
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}" ${attributes}>${escapeXml(content)}</text>`;
}

const color = (index: number) => COLORS[index % COLORS.length] as string;
const fixed = (value: number) => Number(value.toFixed(1));
const escapeXml = (content: string) =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

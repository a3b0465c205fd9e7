// Charts as SVG: readable on light and dark pages.

const WIDTH = 820;
const MARGIN = 14;
/** Okabe and Ito's colors, which people with colour blindness can tell apart. The first one is for the service. */
const COLORS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#999999'];
const STYLE = `<style>
  text { font: 12px system-ui, sans-serif; fill: #6e7781 }
  .title { font-size: 15px; font-weight: 600 }
  .panel { font-weight: 600 }
  line { stroke: #6e7781; stroke-opacity: .3 }
</style>`;

const LABELS = 132;
const BAR = 12;
const GROUP_GAP = 14;
/** Space for the value at the end of the longest bar, and the space between two panels. */
const VALUE = 46;

/** Bars side by side, a panel for each number of something and a scale of its own for each panel. */
export function barChart({
  title,
  panels,
  series,
  categories,
  format,
}: {
  readonly title: string;
  readonly panels: readonly string[];
  readonly series: readonly {
    readonly name: string;
    /** For each panel one for each category; NaN if there is none. */
    readonly values: readonly (readonly number[])[];
  }[];
  readonly categories: readonly string[];
  readonly format: (value: number) => string;
}): string {
  const top = 78;
  const groupHeight = series.length * BAR + GROUP_GAP;
  const labels = categories.map((category, group) =>
    text(LABELS - 10, top + group * groupHeight + (series.length * BAR) / 2 + 4, category, 'text-anchor="end"'),
  );
  const width = (WIDTH - LABELS - MARGIN) / panels.length;
  const bars = panels.flatMap((panel, at) => {
    const left = LABELS + at * width;
    const scale = (width - VALUE) / greatestOf(series.map(({ values }) => values[at] ?? []));
    const marks = series.flatMap(({ values }, index) =>
      categories.map((_, group) => {
        const value = values[at]?.[group] ?? Number.NaN;
        if (Number.isNaN(value)) return '';
        const y = top + group * groupHeight + index * BAR;
        const bar = `<rect x="${fixed(left)}" y="${y}" width="${fixed(value * scale)}" height="${BAR - 2}" fill="${color(index)}"/>`;
        return bar + text(left + value * scale + 4, y + 9, format(value));
      }),
    );
    return [text(left, 62, panel, 'class="panel"'), ...marks];
  });
  return svg(top + categories.length * groupHeight, title, [legend(series, 40), ...labels, ...bars]);
}

const PLOT = { left: 62, top: 64, width: WIDTH - 62 - 50, height: 200 };

/** Lines over a logarithmic axis. */
export function lineChart({
  title,
  series,
  positions,
  unit,
}: {
  readonly title: string;
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly positions: readonly number[];
  /** Of the positions. */
  readonly unit: string;
}): string {
  const { left, top, width, height } = PLOT;
  const [first = 1] = positions;
  const decades = Math.log10((positions.at(-1) ?? 1) / first) || 1;
  const x = (position: number) => left + (Math.log10(position / first) / decades) * width;
  const greatest = niceCeiling(greatestOf(series.map(({ values }) => values)));
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
    text(left + width / 2, top + height + 40, unit, 'text-anchor="middle"'),
    ...lines,
  ]);
}

const greatestOf = (values: readonly (readonly number[])[]) =>
  Math.max(...values.flat().filter((value) => !Number.isNaN(value)));

function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

function legend(series: readonly { readonly name: string }[], y: number): string {
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
  return `<text x="${fixed(x)}" y="${fixed(y)}"${attributes && ` ${attributes}`}>${escapeXml(content)}</text>`;
}

const color = (index: number) => COLORS[index % COLORS.length] as string;
const fixed = (value: number) => Number(value.toFixed(1));
const escapeXml = (content: string) =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

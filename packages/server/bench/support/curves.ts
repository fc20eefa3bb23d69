/** Draws what was measured as curves over a logarithmic axis: one SVG, readable on light and on dark pages. */

export interface Curve {
  readonly name: string;
  /** What is drawn alike has one colour: an index into the palette. */
  readonly colour: number;
  readonly isDashed: boolean;
  /** Ascending in x, which is above 0. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Panel {
  readonly title: string;
  readonly xLabel: string;
  /** Follows each number of the y axis. */
  readonly unit: string;
  readonly curves: readonly Curve[];
}

const panelWidth = 400;
const plot = { left: 64, top: 44, width: 296, height: 180 } as const;
const legendTop = plot.top + plot.height + 52;
const lineHeight = 18;
const palette = 2;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .page { fill: #ffffff } .title { font-weight: 600; font-size: 13px }
  .grid { stroke: #d0d7de } .curve { fill: none; stroke-width: 2 }
  .c0 { stroke: #0a58ca } .d0 { fill: #0a58ca } .c1 { stroke: #b93815 } .d1 { fill: #b93815 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .page { fill: #0d1117 } .grid { stroke: #3d444d }
    .c0 { stroke: #6cb0ff } .d0 { fill: #6cb0ff } .c1 { stroke: #ff9a76 } .d1 { fill: #ff9a76 }
  }`;

/**
 * @param description what the picture shows, for who can't see it
 * @throws RangeError for a panel without a point
 */
export function drawCurves(panels: readonly Panel[], description: string): string {
  const width = panels.length * panelWidth;
  const rows = Math.max(...panels.map(({ curves }) => curves.length));
  const height = legendTop + rows * lineHeight + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img">
<title>${asText(description)}</title>
<style>${style}
</style>
<rect class="page" width="${width}" height="${height}"/>
${panels.map((panel, at) => `<g transform="translate(${at * panelWidth} 0)">\n${drawPanel(panel)}\n</g>`).join('\n')}
</svg>
`;
}

function drawPanel({ title, xLabel, unit, curves }: Panel): string {
  const all = curves.flatMap(({ points }) => points);
  if (all.length === 0) throw new RangeError(`Nothing was measured for "${title}"`);
  const [first, last] = [Math.min(...all.map(([x]) => x)), Math.max(...all.map(([x]) => x))];
  const ticks = ticksUpTo(Math.max(...all.map(([, y]) => y)) || 1);
  const top = ticks.at(-1) ?? 1;
  const span = Math.log10(last) - Math.log10(first) || 1;
  const xOf = (x: number) => round(plot.left + ((Math.log10(x) - Math.log10(first)) / span) * plot.width);
  const yOf = (y: number) => round(plot.top + plot.height - (y / top) * plot.height);
  const right = plot.left + plot.width;
  const lines = [
    `<text class="title" x="${plot.left}" y="22">${asText(title)}</text>`,
    ...ticks.flatMap((y) => [
      `<line class="grid" x1="${plot.left}" x2="${right}" y1="${yOf(y)}" y2="${yOf(y)}"/>`,
      `<text x="${plot.left - 8}" y="${yOf(y) + 4}" text-anchor="end">${amount(y)} ${asText(unit)}</text>`,
    ]),
    ...[...new Set(all.map(([x]) => x))].map(
      (x) =>
        `<text x="${xOf(x)}" y="${plot.top + plot.height + 18}" text-anchor="middle">${x.toLocaleString('en')}</text>`,
    ),
    `<text x="${plot.left + plot.width / 2}" y="${plot.top + plot.height + 36}" text-anchor="middle">${asText(xLabel)}</text>`,
  ];
  for (const [at, { name, colour, isDashed, points }] of curves.entries()) {
    const kind = colour % palette;
    const dash = isDashed ? ' stroke-dasharray="5 4"' : '';
    const y = legendTop + at * lineHeight;
    lines.push(
      `<polyline class="curve c${kind}"${dash} points="${points.map(([x, y]) => `${xOf(x)},${yOf(y)}`).join(' ')}"/>`,
      ...points.map(([x, y]) => `<circle class="d${kind}" cx="${xOf(x)}" cy="${yOf(y)}" r="3"/>`),
      `<line class="curve c${kind}"${dash} x1="${plot.left}" x2="${plot.left + 28}" y1="${y}" y2="${y}"/>`,
      `<text x="${plot.left + 36}" y="${y + 4}">${asText(name)}</text>`,
    );
  }
  return lines.join('\n');
}

/** From 0, in round steps, to the first that is no less than the largest value, which is above 0. */
function ticksUpTo(largest: number): number[] {
  const rough = largest / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * unit >= rough) ?? 10) * unit;
  return Array.from({ length: Math.ceil(largest / step - 1e-9) + 1 }, (_, at) => at * step);
}

function amount(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function asText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

import { coverageStyles, coverageStylesHash } from './page-styles.ts';
import {
  type CoverageReport,
  type CoverageTotals,
  type FileCoverage,
  percentOf,
  type Share,
  totalsOf,
  uncoveredRanges,
} from './report.ts';

export interface CoveragePageOptions {
  readonly title: string;
  /** The text of a source file, by its path in the report. Default: pages have counts without sources. */
  readonly sourceOf?: ((path: string) => string | undefined) | undefined;
}

/**
 * Creates a folder of pages: `index.html`, and a page for each file. They need neither scripts nor other resources, which their
 * Content-Security-Policy forbids. Names and sources are untrusted, and are shown as text.
 *
 * @returns each page's name, and its HTML when it is read
 */
export function* coveragePages(
  report: CoverageReport,
  { title, sourceOf }: CoveragePageOptions,
): Generator<readonly [name: string, html: string]> {
  const names = pageNames(report.files);
  yield ['index.html', indexPage(report, title, names)];
  for (const [at, file] of report.files.entries()) {
    yield [names[at] as string, filePage(file, title, sourceOf?.(file.path))];
  }
}

function indexPage({ files, totals, functionsWithoutLines }: CoverageReport, title: string, names: readonly string[]) {
  const rows = files.map((file, at) => {
    const cells = shares(totalsOf(file), file.unit).map(([, share]) => shareCells(share));
    const link = `<a href="${encodeURIComponent(names[at] as string)}">${escaped(file.path)}</a>`;
    return `<tr><th scope="row" class="name">${link}</th>${cells.join('')}</tr>\n`;
  });
  const unit = files[0]?.unit ?? 'line';
  const headings = shares(totals, unit).map(
    ([name]) => `<th scope="col" class="number">${name}</th><th scope="col" class="number">Covered</th>`,
  );
  const leftOut =
    functionsWithoutLines === 0
      ? ''
      : `<p>${countOf(functionsWithoutLines, 'function')} without debug information left out.</p>`;
  return page(
    `${title} – coverage`,
    `<header><h1>Coverage of ${escaped(title)}</h1>${totalsList(totals, unit)}</header>
<main><div class="scroll" tabindex="0" role="region" aria-label="Files"><table class="list">
<caption>${countOf(files.length, 'file')}</caption>
<thead><tr><th scope="col">File</th>${headings.join('')}</tr></thead>
<tbody>
${rows.join('')}</tbody></table></div>${leftOut}</main>`,
  );
}

function shareCells(share: Share): string {
  const percent = percentOf(share);
  // A bar of attributes: the policy forbids styles in elements.
  const bar = `<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="8"/><rect width="${percent}" height="8"/></svg>`;
  return `<td class="number">${percent.toFixed(1)} %${bar}</td><td class="number">${share.covered} of ${share.total}</td>`;
}

function filePage(file: FileCoverage, title: string, text: string | undefined): string {
  const missed = uncoveredRanges(file).map(([from]) => from);
  const body = text === undefined ? tableOfCounts(file) : tableOfSource(file, text, missed);
  const firstMissed =
    text === undefined || missed[0] === undefined ? '' : ` · <a href="#L${missed[0]}">First uncovered line</a>`;
  return page(
    `${file.path} – coverage`,
    `<header><nav><a href="index.html">${escaped(title)}</a>${firstMissed}</nav>
<h1 class="name">${escaped(file.path)}</h1>${totalsList(totalsOf(file), file.unit)}</header>
<main>${tableOfFunctions(file, text !== undefined)}
${body}</main>`,
  );
}

/** Without debug information, lines are blocks. */
function shares({ lines, functions, blocks }: CoverageTotals, unit: FileCoverage['unit']): [name: string, Share][] {
  const others: [string, Share][] = [
    ['Functions', functions],
    ['Blocks', blocks],
  ];
  return unit === 'line' ? [['Lines', lines], ...others] : others;
}

function totalsList(totals: CoverageTotals, unit: FileCoverage['unit']): string {
  const entries = shares(totals, unit).map(
    ([name, share]) =>
      `<div><dt>${name}</dt><dd>${percentOf(share).toFixed(1)} % (${share.covered} of ${share.total})</dd></div>`,
  );
  return `<dl>${entries.join('')}</dl>`;
}

function tableOfFunctions({ functions, unit }: FileCoverage, hasSource: boolean): string {
  if (functions.length === 0) return '';
  const rows = functions.map(({ name, line, count, blocks }) => {
    const place = hasSource && line > 0 ? `<a href="#L${line}">${line}</a>` : placeOf(line, unit);
    const share = `${percentOf(blocks).toFixed(1)} %`;
    return `<tr${count === 0 ? ' class="missed"' : ''}><th scope="row" class="name">${escaped(name)}</th><td class="number">${place}</td><td class="number">${count}</td><td class="number">${share}</td></tr>\n`;
  });
  return `<details${hasSource ? '' : ' open'}><summary>${countOf(functions.length, 'function')}</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Functions"><table class="list">
<thead><tr><th scope="col">Function</th><th scope="col" class="number">${headingOf(unit)}</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Blocks</th></tr></thead>
<tbody>
${rows.join('')}</tbody></table></div></details>`;
}

/** The source, with the count of each line that has code. The count of an uncovered line leads to the next such lines. */
function tableOfSource({ lines }: FileCoverage, text: string, missed: readonly number[]): string {
  const counts = new Map(lines.map(({ line, count }) => [line, count]));
  const texts = text.split(/\r\n|\n|\r/);
  if (texts.at(-1) === '') texts.pop();
  const next = new Map(missed.map((line, at) => [line, missed[(at + 1) % missed.length] as number]));
  const rows = texts.map((code, at) => {
    const line = at + 1;
    const count = counts.get(line);
    const following = next.get(line);
    const shown =
      following === undefined || following === line
        ? `${count ?? ''}`
        : `<a href="#L${following}" aria-label="0, next uncovered line">0</a>`;
    return `<tr id="L${line}"${count === 0 ? ' class="missed"' : ''}><th scope="row" class="number">${line}</th><td class="number">${shown}</td><td><pre>${escaped(code)}</pre></td></tr>\n`;
  });
  return linesTable('Line', '<th scope="col">Source</th>', rows);
}

function tableOfCounts({ lines, unit }: FileCoverage): string {
  const rows = lines.map(
    ({ line, count }) =>
      `<tr${count === 0 ? ' class="missed"' : ''}><th scope="row" class="number">${placeOf(line, unit)}</th><td class="number">${count}</td></tr>\n`,
  );
  const label = unit === 'line' ? 'lines' : 'blocks';
  const table = linesTable(headingOf(unit), '', rows);
  return `<details${unit === 'line' ? ' open' : ''}><summary>Counts of ${label}</summary>${table}</details>`;
}

function linesTable(heading: string, more: string, rows: readonly string[]): string {
  return `<div class="scroll" tabindex="0" role="region" aria-label="${heading}s"><table class="lines">
<thead><tr><th scope="col" class="number">${heading}</th><th scope="col" class="number">Count</th>${more}</tr></thead>
<tbody>
${rows.join('')}</tbody></table></div>`;
}

function headingOf(unit: FileCoverage['unit']): string {
  return unit === 'line' ? 'Line' : 'Offset';
}

function placeOf(line: number, unit: FileCoverage['unit']): string {
  return unit === 'line' ? `${line}` : `0x${line.toString(16)}`;
}

function page(title: string, body: string): string {
  const policy = `default-src 'none'; style-src '${coverageStylesHash}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Tenon">
<title>${escaped(title)}</title>
<style>${coverageStyles}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

const maxNameLength = 120;

/** Names of pages, different also where the file system ignores case. */
function pageNames(files: readonly FileCoverage[]): string[] {
  const used = new Set(['index']);
  return files.map(({ path }) => {
    const plain =
      path
        .replace(/[^A-Za-z0-9._-]+/g, '-')
        .replace(/^[-.]+/, '')
        .slice(-maxNameLength) || 'file';
    let name = plain;
    for (let number = 2; used.has(name.toLowerCase()); number++) name = `${plain}-${number}`;
    used.add(name.toLowerCase());
    return `${name}.html`;
  });
}

function countOf(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
}

/** Characters that can make a text look like another one. A tab is shown as it is. */
const invisible = /[^\P{Cc}\t]|\p{Cf}|\p{Zl}|\p{Zp}/gu;

function escaped(text: string): string {
  return text
    .replace(invisible, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

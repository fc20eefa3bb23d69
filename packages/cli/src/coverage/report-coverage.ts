import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { listFunctions } from '@tenon/instrument';
import {
  type CoverageCounts,
  type CoverageMap,
  type CoverageProfile,
  type CoverageReport,
  coveragePages,
  createCoverageReport,
  type FileCoverage,
  formatProfile,
  lcov,
  mergeProfiles,
  parseProfile,
  percentOf,
  type Share,
  totalsOf,
  uncoveredRanges,
} from '@tenon/instrument/coverage';
import { createDemangler } from '@tenon/trace/demangle';
import { CliError } from '../errors.ts';
import { fileError, standardStream, writeFileWhole } from '../files.ts';
import type { Io } from '../io.ts';
import { locations } from '../locations.ts';
import { writeBytes } from '../output.ts';
import { count, createStyle, formatNumber, formatTable, hasColours, type Style } from '../text.ts';
import { refusing } from '../tracing-options.ts';
import type { CoverageFlags } from './coverage-options.ts';
import { findSources, openSource, type SourceFiles } from './source-files.ts';

/** A module's coverage, and its sources. */
export interface Coverage {
  readonly title: string;
  readonly report: CoverageReport;
  readonly sources: SourceFiles | undefined;
}

export interface CoveredModule {
  readonly file: string;
  /** Before it was instrumented. */
  readonly bytes: Uint8Array;
  readonly map: CoverageMap;
  readonly counts: CoverageCounts;
}

/** Merges the counts of a run with those of `--merge`, and finds lines and names. */
export async function readCoverage(io: Io, module: CoveredModule, flags: CoverageFlags): Promise<Coverage> {
  const { file, bytes, map } = module;
  const digest = createHash('sha256').update(bytes).digest('base64url');
  const { counts } = await mergeIntoFile(io, flags.merge, { module: digest, counts: module.counts });
  const title = file === standardStream ? 'stdin' : basename(file);
  const source = openSource(file, bytes);
  const folder = resolve(io.workingFolder, flags.sources ?? '.');
  const sources = source && findSources(source.files(), folder, io.workingFolder, resolve(io.workingFolder, file));
  const names = new Map(listFunctions(bytes).functions.map(({ index, name }) => [index, name]));
  const demangle = createDemangler(await readFile(locations.demangler));
  const report = createCoverageReport(map, counts, {
    moduleName: title,
    functionName: (index) => demangle(names.get(index) ?? `func[${index}]`),
    source,
    pathOf: sources?.isEmpty === false ? sources.pathOf : undefined,
  });
  return { title, report, sources };
}

async function mergeIntoFile(io: Io, file: string | undefined, profile: CoverageProfile): Promise<CoverageProfile> {
  if (file === undefined) return profile;
  const path = resolve(io.workingFolder, file);
  const before = await readFile(path, 'utf8').catch((cause) => {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileError(`Cannot read ${path}`, cause);
  });
  const merged = before === undefined ? profile : refusing(() => mergeProfiles(parseProfile(before), profile));
  await writeFileWhole(path, (handle) => handle.writeFile(formatProfile(merged)));
  return merged;
}

/** Writes the files that the options name, and a table to stderr if people read it. */
export async function writeCoverage(io: Io, coverage: Coverage, flags: CoverageFlags, isShown: boolean): Promise<void> {
  const { title, report, sources } = coverage;
  if (isShown) {
    const { stderr } = io;
    const style = createStyle(hasColours(stderr, io.environment));
    stderr.write(formatCoverage(coverage, style, stderr.isTTY === true ? stderr.columns : undefined));
  }
  if (flags.lcov !== undefined) {
    const bytes = new TextEncoder().encode(lcov(report));
    if (flags.lcov === standardStream) await writeBytes(io.stdout, bytes);
    else await writeFileWhole(resolve(io.workingFolder, flags.lcov), (handle) => handle.writeFile(bytes));
  }
  if (flags.html === undefined) return;
  const folder = resolve(io.workingFolder, flags.html);
  await mkdir(folder, { recursive: true }).catch((cause) => {
    throw fileError(`Cannot create ${folder}`, cause);
  });
  for (const [name, html] of coveragePages(report, { title, sourceOf: sources?.textOf })) {
    await writeFileWhole(join(folder, name), (handle) => handle.writeFile(html));
  }
}

/** Coverage for `--json`. */
export function coverageAsJson({ title, report: { files, totals, functionsWithoutLines } }: Coverage): unknown {
  return {
    module: title,
    ...sharesAsJson(totals, files[0]?.unit ?? 'line'),
    functionsWithoutLines,
    files: files.map((file) => ({
      path: file.path,
      ...sharesAsJson(totalsOf(file), file.unit),
      uncovered: file.unit === 'line' ? uncoveredRanges(file) : null,
    })),
  };
}

function sharesAsJson({ lines, functions, blocks }: CoverageReport['totals'], unit: FileCoverage['unit']) {
  const share = (each: Share) => ({ ...each, percent: percentOf(each) });
  return { lines: unit === 'line' ? share(lines) : null, functions: share(functions), blocks: share(blocks) };
}

const maxRanges = 10;

/** Coverage for people: a row for each file, and for all. */
function formatCoverage({ report, sources }: Coverage, style: Style, maxWidth: number | undefined): string {
  const { files, totals, functionsWithoutLines } = report;
  const hasLines = files[0]?.unit === 'line';
  const cells = ({ lines, functions, blocks }: CoverageReport['totals']) =>
    [...(hasLines ? [lines] : []), functions, blocks].map((share) => ({
      text: `${percentOf(share).toFixed(1)} %`,
      style: share.covered === share.total ? style.good : style.bold,
    }));
  const all = files.length === 1 ? [] : [['All files', ...cells(totals), '']];
  const rows = files.map((file) => [file.path, ...cells(totalsOf(file)), hasLines ? uncoveredText(file) : '']);
  const headings = ['File', ...(hasLines ? ['Lines'] : []), 'Functions', 'Blocks', hasLines ? 'Uncovered lines' : ''];
  const notes: string[] = [];
  if (!hasLines) notes.push('note: no debug information, so blocks are counted instead of lines.\n');
  if (sources?.isEmpty)
    notes.push('note: no source file is in the folder, so all are listed. --sources names another.\n');
  else if (sources !== undefined && sources.others > 0) {
    notes.push(`note: ${count(sources.others, 'source file')} outside of the folder left out (--sources).\n`);
  }
  if (functionsWithoutLines > 0)
    notes.push(`note: ${count(functionsWithoutLines, 'function')} without lines left out.\n`);
  const functionTables = hasLines ? [] : files.map((file) => `\n${formatFunctions(file, style, maxWidth)}`);
  return (
    formatTable(headings, [...rows, ...all], style, maxWidth) + functionTables.join('') + style.dim(notes.join(''))
  );
}

const maxFunctions = 20;

/** The functions with the most blocks that have not run. */
function formatFunctions({ functions }: FileCoverage, style: Style, maxWidth: number | undefined): string {
  const missed = ({ blocks: { total, covered } }: FileCoverage['functions'][number]) => total - covered;
  const incomplete = functions.filter((each) => missed(each) > 0).sort((a, b) => missed(b) - missed(a));
  const rows = incomplete
    .slice(0, maxFunctions)
    .map((each) => [
      `0x${each.line.toString(16)}`,
      formatNumber(each.count),
      `${each.blocks.covered} of ${each.blocks.total}`,
      each.name,
    ]);
  if (rows.length === 0) return '';
  const rest = incomplete.length - rows.length;
  const more = rest > 0 ? `… and ${count(rest, 'more function')} with uncovered blocks; --html shows all\n` : '';
  return formatTable(['Offset', 'Calls', 'Blocks', 'Function'], rows, style, maxWidth) + more;
}

function uncoveredText(file: FileCoverage): string {
  const ranges = uncoveredRanges(file);
  const shown = ranges.slice(0, maxRanges).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return shown.join(',') + (ranges.length > maxRanges ? ',…' : '');
}

/** @throws CliError `coverage_too_low` if less is covered than `--fail-under` requires */
export function assertCovered({ report: { files, totals } }: Coverage, { failUnder }: CoverageFlags): void {
  if (failUnder === undefined) return;
  const [what, share] = files[0]?.unit === 'offset' ? ['blocks', totals.blocks] : ['lines', totals.lines];
  const percent = (100 * share.covered) / share.total;
  if (share.total === 0 || percent >= failUnder) return;
  throw new CliError(
    'coverage_too_low',
    `${percentOf(share).toFixed(1)} % of the ${what} are covered; --fail-under requires ${failUnder} %.`,
  );
}

import type { LineRange, SourceLookup } from '../debug-info/source-lookup.ts';
import type { CoverageBlock, CoverageCounts, CoverageMap } from './coverage-map.ts';

/** How many of several lines, functions, or blocks have run. */
export interface Share {
  readonly total: number;
  readonly covered: number;
}

export interface LineCoverage {
  readonly line: number;
  readonly count: number;
}

export interface FunctionCoverage {
  readonly name: string;
  readonly line: number;
  /** How often it was called. */
  readonly count: number;
  readonly blocks: Share;
}

export interface FileCoverage {
  readonly path: string;
  /** What `line` is: a line of the source, or, without debug information, the offset of a block in the code section. */
  readonly unit: 'line' | 'offset';
  /** By ascending line. Lines without code are left out. */
  readonly lines: readonly LineCoverage[];
  /** By ascending line. */
  readonly functions: readonly FunctionCoverage[];
}

export interface CoverageTotals {
  readonly lines: Share;
  readonly functions: Share;
  readonly blocks: Share;
}

export interface CoverageReport {
  /** By path. */
  readonly files: readonly FileCoverage[];
  readonly totals: CoverageTotals;
  /** How many functions are left out: they have no lines, and others have. */
  readonly functionsWithoutLines: number;
}

export interface CoverageReportOptions {
  /** The path of the only file without debug information: the module's name. */
  readonly moduleName: string;
  /** The name of a function, by its index in the input. */
  readonly functionName: (functionIndex: number) => string;
  /** Finds lines in the input. Default: none, so only functions and blocks are reported. */
  readonly source?: Pick<SourceLookup, 'functionSource' | 'lineRanges'> | undefined;
  /** The path of a source file in the report. `undefined` leaves the file out. Default: as in the debug information. */
  readonly pathOf?: ((file: string) => string | undefined) | undefined;
}

interface OpenFile {
  readonly lines: Map<number, number>;
  readonly functions: FunctionCoverage[];
}

/**
 * Creates a report of the lines and functions that have run.
 *
 * The count of a line is the highest count of its blocks. Without debug information, the report has one file, with the
 * offsets of blocks as lines.
 */
export function createCoverageReport(
  map: CoverageMap,
  counts: CoverageCounts,
  options: CoverageReportOptions,
): CoverageReport {
  const { moduleName, functionName, source, pathOf = (file) => file } = options;
  const files = new Map<string, OpenFile>();
  const open = (path: string): OpenFile => {
    const file = files.get(path) ?? { lines: new Map(), functions: [] };
    files.set(path, file);
    return file;
  };
  const withLines = source === undefined ? undefined : readLines(map, source);
  let functionsWithoutLines = 0;
  let first = 0;
  for (const { functionIndex, blocks } of map.functions) {
    const own = counts.subarray(first, first + blocks.length);
    first += blocks.length;
    const counted = {
      name: functionName(functionIndex),
      count: own[0] ?? 0,
      blocks: { total: own.length, covered: own.filter((count) => count > 0).length },
    };
    if (source === undefined || withLines === undefined) {
      const { lines, functions } = open(moduleName);
      blocks.forEach(({ start }, at) => void lines.set(start, own[at] as number));
      functions.push({ ...counted, line: blocks[0]?.start ?? 0 });
      continue;
    }
    const ranges = withLines.get(functionIndex);
    if (ranges === undefined) {
      functionsWithoutLines += 1;
      continue;
    }
    addLines(blocks, own, ranges, (file, line, count) => {
      const path = pathOf(file);
      if (path === undefined) return;
      const { lines } = open(path);
      lines.set(line, Math.max(lines.get(line) ?? 0, count));
    });
    const declared = source.functionSource(functionIndex) ?? ranges[0];
    const path = declared && pathOf(declared.file);
    if (path !== undefined) open(path).functions.push({ ...counted, line: declared?.line ?? 0 });
  }
  const unit = withLines === undefined ? 'offset' : 'line';
  const finished = [...files].map(([path, file]) => finish(path, unit, file));
  finished.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: finished, totals: addTotals(finished.map(totalsOf)), functionsWithoutLines };
}

/** The lines of each function that has any; `undefined` if no function has. */
function readLines(
  { functions }: CoverageMap,
  source: Pick<SourceLookup, 'lineRanges'>,
): Map<number, readonly LineRange[]> | undefined {
  const found = new Map<number, readonly LineRange[]>();
  for (const { functionIndex, blocks } of functions) {
    const [start, end] = [blocks[0]?.start ?? 0, blocks.at(-1)?.end ?? 0];
    const ranges = source.lineRanges(start, end).filter(({ line }) => line > 0);
    if (ranges.length > 0) found.set(functionIndex, ranges);
  }
  return found.size === 0 ? undefined : found;
}

/** Walks blocks and line ranges, both by ascending offset, and reports each pair that overlaps. */
function addLines(
  blocks: readonly CoverageBlock[],
  counts: CoverageCounts,
  ranges: readonly LineRange[],
  add: (file: string, line: number, count: number) => void,
): void {
  let block = 0;
  for (const { start, end, file, line } of ranges) {
    while (block < blocks.length && (blocks[block] as CoverageBlock).end <= start) block += 1;
    for (let at = block; at < blocks.length && (blocks[at] as CoverageBlock).start < end; at++) {
      add(file, line, counts[at] as number);
    }
  }
}

function finish(path: string, unit: FileCoverage['unit'], { lines, functions }: OpenFile): FileCoverage {
  return {
    path,
    unit,
    lines: [...lines].map(([line, count]) => ({ line, count })).sort((a, b) => a.line - b.line),
    functions: withOwnNames(functions).sort((a, b) => a.line - b.line),
  };
}

/** Combines the instances of a generic function, which share name and line, and gives all others names of their own. */
function withOwnNames(functions: readonly FunctionCoverage[]): FunctionCoverage[] {
  const byPlace = new Map<string, FunctionCoverage>();
  const lines = new Map<string, Set<number>>();
  for (const each of functions) {
    const { name, line, count, blocks } = each;
    lines.set(name, (lines.get(name) ?? new Set()).add(line));
    const key = `${line} ${name}`;
    const same = byPlace.get(key);
    byPlace.set(
      key,
      same === undefined ? each : { name, line, count: same.count + count, blocks: addShares([same.blocks, blocks]) },
    );
  }
  return [...byPlace.values()].map((each) =>
    (lines.get(each.name)?.size ?? 0) > 1 ? { ...each, name: `${each.name}:${each.line}` } : each,
  );
}

/** The totals of a file. */
export function totalsOf({ lines, functions }: FileCoverage): CoverageTotals {
  const shareOf = (items: readonly { readonly count: number }[]): Share => ({
    total: items.length,
    covered: items.filter(({ count }) => count > 0).length,
  });
  return {
    lines: shareOf(lines),
    functions: shareOf(functions),
    blocks: addShares(functions.map(({ blocks }) => blocks)),
  };
}

function addTotals(totals: readonly CoverageTotals[]): CoverageTotals {
  return {
    lines: addShares(totals.map(({ lines }) => lines)),
    functions: addShares(totals.map(({ functions }) => functions)),
    blocks: addShares(totals.map(({ blocks }) => blocks)),
  };
}

function addShares(shares: readonly Share[]): Share {
  return shares.reduce((sum, { total, covered }) => ({ total: sum.total + total, covered: sum.covered + covered }), {
    total: 0,
    covered: 0,
  });
}

/** Percent, rounded down to a tenth, so that only complete coverage is 100. Nothing of nothing is 100. */
export function percentOf({ total, covered }: Share): number {
  return total === 0 ? 100 : Math.floor((covered / total) * 1000) / 10;
}

/** The lines that have not run, as ranges. Lines without code don't end a range. */
export function uncoveredRanges({ lines }: FileCoverage): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  let isOpen = false;
  for (const { line, count } of lines) {
    const last = ranges.at(-1);
    if (count > 0) isOpen = false;
    else if (isOpen && last !== undefined) last[1] = line;
    else {
      ranges.push([line, line]);
      isOpen = true;
    }
  }
  return ranges;
}

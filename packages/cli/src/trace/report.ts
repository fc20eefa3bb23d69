import type { FunctionStatistics, TraceStatistics } from '@tenon/trace';
import { formatDuration, formatPages, sourceLabel, treeText } from '@tenon/trace/formats';
import { count, formatFigures, formatNumber, printable, type Style } from '../text.ts';
import type { Trace } from './formats.ts';
import { formatMemory } from './memory-report.ts';
import type { FunctionSpread, RepeatSummary, Spread } from './summary.ts';

export interface ReportOptions {
  readonly style: Style;
  readonly isColoured: boolean;
  /** How many functions are listed. */
  readonly top: number;
  /** How deep the tree is shown. */
  readonly depth: number;
  /** Whether each call has its own line. */
  readonly isEach: boolean;
}

/** A trace in one line. */
export function formatHeading(trace: Trace): string {
  const { title, timeNano, spans, statistics, minDurationMicroseconds, summary } = trace;
  const calls = statistics.functions.reduce((sum, entry) => sum + entry.calls, 0);
  const ofFunctions = `${count(calls, 'call')} of ${count(statistics.functions.length, 'function')}`;
  const least = minDurationMicroseconds === 0 ? '' : ` of ${formatNumber(minDurationMicroseconds)} µs or more`;
  const kept = `${count(spans.length, 'span')}${least}`;
  const time = formatDuration(timeNano);
  if (summary === undefined) return `${printable(title)}: ${time} in ${ofFunctions}, ${kept}`;
  return `${printable(title)}: ${count(summary.runs, 'run')} with ${ofFunctions}; the last took ${time}, ${kept}`;
}

/** The report for people: the tree of calls, the functions with the most self time, and what was dropped. */
export function formatReport(trace: Trace, options: ReportOptions): string {
  const { style, isColoured, top, depth, isEach } = options;
  const parts = [`${style.bold(formatHeading(trace))}\n`];
  const tree = treeText(trace.spans, { color: isColoured, calls: isEach ? 'each' : 'merged', maxDepth: depth });
  parts.push(tree === '' ? 'No traced function was called.\n' : tree);
  const { statistics, summary } = trace;
  if (top > 0 && summary !== undefined) parts.push(formatSummary(summary, top, style));
  else if (top > 0) parts.push(formatTop(statistics, top, style));
  if (top > 0) parts.push(untimedNote(statistics));
  if (trace.heap !== undefined) parts.push(formatMemory(trace.heap, top, style));
  parts.push(droppedNotes(trace).join(''));
  return parts.filter((part) => part !== '').join('\n');
}

function formatTop({ functions }: TraceStatistics, top: number, style: Style): string {
  if (functions.length === 0) return '';
  const bySelf = functions.toSorted((a, b) => compare(b.selfTimeNano, a.selfTimeNano));
  const whole = Number(functions.reduce((sum, { selfTimeNano }) => sum + selfTimeNano, 0n));
  const rows = bySelf.slice(0, top).map((entry) => topRow(entry, whole));
  const headings = ['self', '', 'total', 'calls', 'longest', 'memory', 'function'];
  return `${formatFigures(headings, rows, style)}${restNote(functions.length, top)}`;
}

function topRow(entry: FunctionStatistics, wholeNano: number): string[] {
  const self = Number(entry.selfTimeNano);
  const source = sourceLabel(entry.function);
  const failed = entry.failures > 0 ? `  (${formatNumber(entry.failures)} failed)` : '';
  return [
    formatDuration(self),
    wholeNano === 0 ? '' : `${((self / wholeNano) * 100).toFixed(1)} %`,
    formatDuration(Number(entry.totalTimeNano)),
    formatNumber(entry.calls),
    formatDuration(Number(entry.maxTimeNano)),
    entry.grownPages === 0 ? '' : `+${formatPages(entry.grownPages)}`,
    `${printable(entry.function.name)}${source === '' ? '' : `  ${printable(source)}`}${failed}`,
  ];
}

function untimedNote({ functions }: TraceStatistics): string {
  const untimed = functions.filter(({ untimedCalls }) => untimedCalls > 0).length;
  if (untimed === 0) return '';
  const which = `${count(untimed, 'function')} with many short calls`;
  return `Most calls of ${which} were only counted. Their time is part of their callers' self time; --full times all.\n`;
}

function formatSummary({ runs, timeNano, functions }: RepeatSummary, top: number, style: Style): string {
  const rows = functions.slice(0, top).map(summaryRow);
  const all = [...spreadCells(timeNano), '', '', style.bold('whole run')];
  const headings = ['min', 'median', 'p95', 'max', 'total', 'calls', 'function'];
  const heading = `${count(runs, 'run')}, self time of functions in each:\n`;
  return `${heading}${formatFigures(headings, [all, ...rows], style)}${restNote(functions.length, top)}`;
}

function summaryRow({ name, calls, total, self }: FunctionSpread): string[] {
  return [...spreadCells(self), formatDuration(total.median), formatNumber(calls), printable(name)];
}

function spreadCells({ min, median, p95, max }: Spread): string[] {
  return [min, median, p95, max].map(formatDuration);
}

function restNote(functions: number, top: number): string {
  return functions > top ? `… and ${count(functions - top, 'more function')}; --top shows more\n` : '';
}

/** Notes on what the report lacks. */
function droppedNotes({ statistics }: Trace): string[] {
  const { spans, depth, events, attributes, functions, unmatched } = statistics.dropped;
  const notes: string[] = [];
  if (spans > 0) notes.push(`${count(spans, 'span')} dropped: raise --max-spans or --min-duration.`);
  if (depth > 0) notes.push(`${count(depth, 'call')} dropped: too deep.`);
  if (events > 0) notes.push(`${count(events, 'event')} dropped: too many.`);
  if (attributes > 0) notes.push(`${count(attributes, 'attribute')} dropped: too many.`);
  if (functions > 0) notes.push(`${count(functions, 'call')} not in the table: too many functions.`);
  if (unmatched > 0) notes.push(`${count(unmatched, 'call')} without a start or an end.`);
  return notes.map((text) => `note: ${text}\n`);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

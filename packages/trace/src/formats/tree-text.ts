import { countOf, formatCount, formatDuration, formatPages } from '../format.ts';
import { sourceLabel } from '../source-label.ts';
import type { Span } from '../span.ts';
import { visible } from '../unsafe-characters.ts';
import { type CallTree, callTrees } from './call-tree.ts';

export interface TreeTextOptions {
  /** Whether to colour it for a terminal, by ANSI escapes. Default: false. */
  readonly color?: boolean | undefined;
  /**
   * Whether calls of one function by the same callers stand in one line, with their number and their times taken together, or each in a
   * line of its own. Default: `merged`.
   */
  readonly calls?: 'merged' | 'each' | undefined;
  /** Deeper calls are counted and not shown. Default: 100. */
  readonly maxDepth?: number | undefined;
  /** Further lines are counted and not shown. Default: 2,000. */
  readonly maxLines?: number | undefined;
  /** Longer names are cut, in UTF-16 code units. Default: 200. */
  readonly maxNameLength?: number | undefined;
}

type Limits = Required<{ [Key in 'maxDepth' | 'maxLines' | 'maxNameLength']: number }>;

interface Line {
  readonly total: string;
  readonly self: string;
  readonly memory: string;
  /** Branches of the tree before the name. */
  readonly indent: string;
  readonly name: string;
  readonly notes: readonly string[];
  readonly failure: string;
}

/**
 * Writes spans as a tree for people: total time, self time and growth of memory on the left, names on the right. Names and reasons come
 * from modules, so what could move a terminal's cursor or recolour it is written as an escape.
 *
 * ```
 *   total     self   memory
 * 12.8 ms  3.07 µs           _start
 * 12.8 ms  1.41 µs  192 KiB  └─ main
 * 1.00 ms  1.00 ms              ├─ parse(int) ×3 (340 shorter calls, 321 µs)
 * 11.8 ms  11.8 ms              └─ run ✗ unreachable
 * ```
 *
 * @returns lines that end in line breaks; the empty string for no spans
 */
export function treeText(spans: readonly Span[], options: TreeTextOptions = {}): string {
  const { color = false, calls = 'merged', maxDepth = 100, maxLines = 2_000, maxNameLength = 200 } = options;
  const roots = callTrees(spans, calls === 'merged');
  if (roots.length === 0) return '';
  const { lines, hiddenCalls } = linesOf(roots, { maxDepth, maxLines, maxNameLength });
  const header: Line = { total: 'total', self: 'self', memory: 'memory', indent: '', name: '', notes: [], failure: '' };
  const withMemory = lines.some(({ memory }) => memory !== '');
  const paint = color ? ansi : plain;
  const widths = widthsOf([header, ...lines]);
  const text = [header, ...lines].map((line) => written(line, widths, withMemory, paint)).join('');
  return hiddenCalls === 0 ? text : `${text}… and ${countOf(hiddenCalls, 'call')} that are not shown\n`;
}

function linesOf(roots: readonly CallTree[], limits: Limits): { lines: Line[]; hiddenCalls: number } {
  const lines: Line[] = [];
  let hiddenCalls = 0;
  const open = roots.map((tree) => ({ tree, depth: 0, indent: '', below: '' })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { tree, depth, indent, below } = next;
    const isShown = depth < limits.maxDepth && lines.length < limits.maxLines;
    if (isShown) lines.push(lineOf(tree, indent, limits.maxNameLength));
    else hiddenCalls += tree.calls;
    for (let index = tree.children.length - 1; index >= 0; index--) {
      const child = tree.children[index] as CallTree;
      const isLast = index === tree.children.length - 1;
      // Hidden calls need no branches, which would grow with the depth.
      const branches = isShown
        ? { indent: `${below}${isLast ? '└─ ' : '├─ '}`, below: `${below}${isLast ? '   ' : '│  '}` }
        : nothing;
      open.push({ tree: child, depth: depth + 1, ...branches });
    }
  }
  return { lines, hiddenCalls };
}

const nothing = { indent: '', below: '' };

function lineOf(tree: CallTree, indent: string, maxNameLength: number): Line {
  const { calls, failures, foldedCalls, foldedTimeNano, grownPages } = tree;
  const source = sourceLabel(tree.function);
  const place = source === '' ? [] : [shortened(source, maxNameLength)];
  const times = calls > 1 ? [`×${formatCount(calls)}`] : [];
  const folded =
    foldedCalls > 0 ? [`(${countOf(foldedCalls, 'shorter call')}, ${formatDuration(Number(foldedTimeNano))})`] : [];
  const failed = failures > 1 ? `✗ ${formatCount(failures)} failed: ` : '✗ ';
  return {
    total: formatDuration(Number(tree.totalTimeNano)),
    self: formatDuration(Number(tree.selfTimeNano)),
    memory: grownPages > 0 ? formatPages(grownPages) : '',
    indent,
    name: shortened(tree.name, maxNameLength),
    notes: [...place, ...times, ...folded],
    failure: failures > 0 ? `${failed}${shortened(tree.failure, maxNameLength)}` : '',
  };
}

function shortened(text: string, maxLength: number): string {
  return visible(text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text);
}

interface Widths {
  readonly total: number;
  readonly self: number;
  readonly memory: number;
}

function widthsOf(lines: readonly Line[]): Widths {
  const widest = (column: keyof Widths) => lines.reduce((width, line) => Math.max(width, line[column].length), 0);
  return { total: widest('total'), self: widest('self'), memory: widest('memory') };
}

type Paint = (style: 'bold' | 'dim' | 'red', text: string) => string;

const plain: Paint = (_, text) => text;

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39] } as const;

const ansi: Paint = (style, text) => (text === '' ? '' : `\u001b[${codes[style][0]}m${text}\u001b[${codes[style][1]}m`);

function written(line: Line, widths: Widths, withMemory: boolean, paint: Paint): string {
  const columns = [line.total.padStart(widths.total), line.self.padStart(widths.self)];
  if (withMemory) columns.push(line.memory.padStart(widths.memory));
  const call = [
    `${paint('dim', line.indent)}${paint('bold', line.name)}`,
    ...line.notes.map((note) => paint('dim', note)),
    paint('red', line.failure),
  ];
  return `${columns.join('  ')}  ${call.filter((part) => part !== '').join(' ')}`.trimEnd().concat('\n');
}

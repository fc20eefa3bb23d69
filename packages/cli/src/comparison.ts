import type { ModuleComparison } from '@tenon/instrument';
import type { Reporter } from './output.ts';
import { formatNumber, formatSize, printable } from './text.ts';

type Part<Item> = { readonly total: number; readonly items: readonly Item[] };
type Row = readonly string[];

/** Shows a comparison of two modules, or the description of one. */
export function showComparison(out: Reporter, { before, after, ...lists }: ModuleComparison): void {
  const number = (read: (module: typeof after) => number, format: (value: number) => string) =>
    fromTo(before && format(read(before)), format(read(after)));
  const memoriesOf = ({ memories }: typeof after) => memories.items.map(memoryInWords).join('; ') || 'none';
  const featuresOf = ({ features }: typeof after) => features.join(', ') || 'none';
  out.fields([
    ['size', number(({ bytes }) => bytes, formatSize)],
    ['functions', number(({ functionCount }) => functionCount, formatNumber)],
    ['memory', fromTo(before && memoriesOf(before), memoriesOf(after))],
    ['features', fromTo(before && featuresOf(before), featuresOf(after))],
  ]);
  const { imports, exports, functions, sections } = lists;
  const added = before === null ? '' : 'added';
  const declarationRow = ({ name, kind, type }: (typeof imports.added.items)[number]) => [name, type ?? kind];
  const functionRow = ({ name, bytes }: (typeof functions.added.items)[number]) => [name, formatSize(bytes)];
  showTable(out, 'Imports', 'TYPE', [
    ...rowsOf(added, imports.added, declarationRow),
    ...rowsOf('removed', imports.removed, declarationRow),
  ]);
  showTable(out, 'Exports', 'TYPE', [
    ...rowsOf(added, exports.added, declarationRow),
    ...rowsOf('removed', exports.removed, declarationRow),
    ...rowsOf('changed', exports.changed, ({ name, kind, type, before: was }) => [
      name,
      fromTo(was.type ?? was.kind, type ?? kind),
    ]),
  ]);
  showTable(out, 'Functions', 'SIZE', [
    ...rowsOf('changed', functions.changed, ({ name, bytes, bytesBefore }) => [
      name,
      fromTo(formatSize(bytesBefore), formatSize(bytes)),
    ]),
    ...rowsOf(added, functions.added, functionRow),
    ...rowsOf('removed', functions.removed, functionRow),
    ...(before === null ? [] : [['unchanged', formatNumber(functions.unchanged), '']]),
  ]);
  showTable(
    out,
    'Sections',
    'SIZE',
    rowsOf(before === null ? '' : 'changed', sections, ({ name, isCustom, bytes, bytesBefore }) => [
      isCustom ? `custom: ${name}` : name,
      before === null ? formatSize(bytes ?? 0) : fromTo(sizeOrNone(bytesBefore), sizeOrNone(bytes)),
    ]),
  );
}

function rowsOf<Item>(change: string, { total, items }: Part<Item>, cells: (item: Item) => Row): Row[] {
  const rows = items.map((item) => [change, ...cells(item).map(printable)]);
  const more = total - items.length;
  return more === 0 ? rows : [...rows, [change, `and ${formatNumber(more)} more`, '']];
}

function showTable(out: Reporter, title: string, lastHeading: string, rows: readonly Row[]): void {
  if (rows.length === 0) return;
  out.write(`\n${out.style.bold(title)}\n`);
  const isPlain = rows.every(([change]) => change === '');
  const headings = ['CHANGE', 'NAME', lastHeading];
  out.table(isPlain ? headings.slice(1) : headings, isPlain ? rows.map((row) => row.slice(1)) : rows, '');
}

function fromTo(before: string | null, after: string): string {
  return before === null || before === after ? after : `${before} → ${after}`;
}

function sizeOrNone(bytes: number | null): string {
  return bytes === null ? 'none' : formatSize(bytes);
}

function memoryInWords(memory: ModuleComparison['after']['memories']['items'][number]): string {
  const { minimumPages, maximumPages, pageBytes } = memory;
  const most = maximumPages === undefined ? '' : `, at most ${formatSize(maximumPages * pageBytes)}`;
  return `${formatSize(minimumPages * pageBytes)}${most}`;
}

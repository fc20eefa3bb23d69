import { formatCount, formatDuration, formatPages, formatShare } from '../../format.ts';
import { shortPath } from '../../source-label.ts';
import { visible } from '../../unsafe-characters.ts';
import type { FlameGraphData } from '../data.ts';
import { type FunctionStats, functionStats } from '../function-stats.ts';
import { element } from './dom.ts';

type Column = Exclude<keyof FunctionStats, 'name'>;

const columns: readonly (readonly [Column | 'name', string])[] = [
  ['name', 'Function'],
  ['calls', 'Spans'],
  ['self', 'Self'],
  ['total', 'Total'],
  ['longest', 'Longest'],
  ['pages', 'Memory'],
  ['failures', 'Failed'],
];

const rowsAtOnce = 200;

export interface FunctionTable {
  readonly root: HTMLElement;
  /** Shows the functions of these names alone; all without. */
  readonly filter: (isNameMatch: Uint8Array | undefined) => void;
}

/** All functions with their stats, sortable: the flame graph as text. */
export function createFunctionTable(
  data: FlameGraphData,
  wholeNano: number,
  onChoose: (name: number) => void,
): FunctionTable {
  const stats = functionStats(data);
  const body = element('tbody');
  const more = element('button', { type: 'button', class: 'more' });
  const heads = columns.map(([column, title]) => {
    const button = element('button', { type: 'button' }, title);
    button.addEventListener('click', () => sortBy(column));
    return element('th', { scope: 'col', class: column === 'name' ? 'name' : 'figure' }, button);
  });
  let sorted: Column | 'name' = 'self';
  let isAscending = false;
  let filter: Uint8Array | undefined;
  let shown = rowsAtOnce;

  function sortBy(column: Column | 'name'): void {
    isAscending = sorted === column ? !isAscending : column === 'name';
    sorted = column;
    shown = rowsAtOnce;
    draw();
  }

  function inOrder(): FunctionStats[] {
    const compare = (a: FunctionStats, b: FunctionStats) =>
      sorted === 'name'
        ? (data.names[a.name] as string).localeCompare(data.names[b.name] as string)
        : a[sorted] - b[sorted];
    const wanted = filter === undefined ? stats : stats.filter(({ name }) => filter?.[name] === 1);
    return wanted.toSorted((a, b) => (isAscending ? compare(a, b) : compare(b, a)));
  }

  function rowOf(entry: FunctionStats): HTMLElement {
    const name = visible(data.names[entry.name] as string);
    const choose = element('button', { type: 'button', title: 'Find it in the flame graph' }, name);
    choose.addEventListener('click', () => onChoose(entry.name));
    const source = data.sources[entry.name];
    const place = typeof source === 'string' ? visible(source) : undefined;
    const cell = (text: string) => element('td', { class: 'figure' }, text);
    return element(
      'tr',
      {},
      element(
        'th',
        { scope: 'row', class: 'name' },
        choose,
        ...(place === undefined ? [] : [element('div', { class: 'source', title: place }, shortPath(place))]),
      ),
      cell(formatCount(entry.calls)),
      cell(`${formatDuration(entry.self)} (${formatShare(entry.self, wholeNano)})`),
      cell(formatDuration(entry.total)),
      cell(formatDuration(entry.longest)),
      cell(entry.pages === 0 ? '' : `+${formatPages(entry.pages)}`),
      cell(entry.failures === 0 ? '' : formatCount(entry.failures)),
    );
  }

  function draw(): void {
    columns.forEach(([column], at) => {
      const order = column !== sorted ? 'none' : isAscending ? 'ascending' : 'descending';
      heads[at]?.setAttribute('aria-sort', order);
    });
    const all = inOrder();
    body.replaceChildren(...all.slice(0, shown).map(rowOf));
    more.hidden = all.length <= shown;
    more.textContent = `Show ${formatCount(Math.min(rowsAtOnce, all.length - shown))} more of ${formatCount(all.length)}`;
  }

  more.addEventListener('click', () => {
    shown += rowsAtOnce;
    draw();
  });
  draw();
  const caption = element('caption', {}, 'Functions, as far as their calls have spans');
  const table = element('table', {}, caption, element('thead', {}, element('tr', {}, ...heads)), body);
  return {
    root: element('div', { class: 'functions', tabindex: '0', role: 'region', 'aria-label': 'Functions' }, table, more),
    filter(next) {
      filter = next;
      shown = rowsAtOnce;
      draw();
    },
  };
}

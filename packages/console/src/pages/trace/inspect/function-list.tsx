import { visible } from '@tenon/trace/unsafe-characters';
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { byteSize } from '../../../components/byte-size.ts';
import { type FunctionTable, nameAt, shownNameAt, sourceAt } from './function-table.ts';
import { listWindow, scrollToRow } from './list-window.ts';
import type { Selection } from './selection.ts';

/**
 * The found functions, up to a million. The list is a single tab stop: the arrow keys move between rows, and Space ticks one
 * (https://www.w3.org/WAI/ARIA/apg/patterns/listbox/).
 */
export function FunctionList(props: {
  readonly table: FunctionTable;
  /** Indices of functions. */
  readonly found: Uint32Array;
  readonly selection: Selection;
  readonly onToggle: (index: number) => void;
}) {
  const { table, found, selection, onToggle } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const { height, rowHeight } = useMeasures(scroller);
  const [scrollTop, setScrollTop] = useState(0);
  const [active, setActive] = useState(0);
  const size = { rows: found.length, rowHeight, height };
  const { first, end, offset, scrollHeight } = listWindow(size, scrollTop);
  const largest = useLargest(table);

  // A new search starts at the top.
  useLayoutEffect(() => {
    setActive(0);
    setScrollTop(0);
    if (scroller.current !== null) scroller.current.scrollTop = 0;
  }, [found]);

  const goTo = (row: number): void => {
    const to = Math.max(0, Math.min(found.length - 1, row));
    setActive(to);
    const top = scrollToRow(size, scrollTop, to);
    if (scroller.current !== null) scroller.current.scrollTop = top;
    setScrollTop(top);
  };
  const toggle = (row: number): void => {
    setActive(row);
    const index = found[row];
    if (index !== undefined && selection.kind !== 'everything') onToggle(index);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: found.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) goTo(to);
    else if (event.key === ' ') toggle(active);
    else return;
    event.preventDefault();
  };
  const isTicking = selection.kind !== 'everything';
  const activeIndex = found[active];
  return (
    <>
      <div
        ref={scroller}
        class="function-list"
        role="listbox"
        tabIndex={0}
        aria-label="Functions"
        aria-multiselectable={isTicking}
        aria-activedescendant={active >= first && active < end ? `${id}-${active}` : undefined}
        aria-describedby={`${id}-active`}
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" class="function-space" style={{ height: `${scrollHeight}px` }}>
          {Array.from(found.subarray(first, end), (index, at) => {
            const row = first + at;
            const isNamed = sourceAt(table, index) !== 'none';
            const isTicked = isTicking && isNamed && selection.names.has(nameAt(table, index));
            const name = shownNameAt(table, index);
            const bytes = table.bodyBytes[index] ?? 0;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus
              <div
                key={row}
                id={`${id}-${row}`}
                class="function-row"
                role="option"
                aria-selected={isTicking ? isTicked : undefined}
                aria-disabled={isTicking && !isNamed ? true : undefined}
                aria-setsize={found.length}
                aria-posinset={row + 1}
                data-active={row === active ? '' : undefined}
                style={{ height: `${rowHeight}px`, transform: `translateY(${offset + at * rowHeight}px)` }}
                onClick={() => toggle(row)}
              >
                {isTicking ? <span class="function-tick" aria-hidden="true" /> : null}
                <span class="function-name" title={shortened(name, 1_000)}>
                  {shortened(name)}
                </span>
                {index < table.importedCount ? (
                  <span class="function-size soft">import</span>
                ) : (
                  <>
                    <span class="function-bar" aria-hidden="true">
                      <span style={{ width: `${Math.max(0.5, (100 * bytes) / largest)}%` }} />
                    </span>
                    <span class="function-size soft">{byteSize(bytes)}</span>
                  </>
                )}
              </div>
            );
          })}
        </div>
      </div>
      <p class="function-active small soft" id={`${id}-active`}>
        {activeIndex === undefined ? '' : <ActiveFunction table={table} index={activeIndex} isTicking={isTicking} />}
      </p>
    </>
  );
}

/** The active row with its full name, which is often longer than a row. */
function ActiveFunction(props: { readonly table: FunctionTable; readonly index: number; readonly isTicking: boolean }) {
  const { table, index, isTicking } = props;
  const [name, shown] = [nameAt(table, index), shownNameAt(table, index)];
  const isNamed = sourceAt(table, index) !== 'none';
  return (
    <>
      <code>{shortened(shown, 400)}</code>
      {name === shown ? '' : ' is '}
      {name === shown ? null : <code>{shortened(name, 400)}</code>}, function {index}
      {isNamed || !isTicking ? '' : '. It has no name to select it by'}
    </>
  );
}

/** Names come from modules and may be very long. */
function shortened(name: string, most = 200): string {
  return name.length <= most ? visible(name) : `${visible(name.slice(0, most))}…`;
}

function useLargest(table: FunctionTable): number {
  return useMemo(() => table.bodyBytes.reduce((most, bytes) => Math.max(most, bytes), 1), [table]);
}

/** Sizes in pixels, which depend on the reader's font size. */
function useMeasures(element: { readonly current: HTMLElement | null }) {
  const [measures, setMeasures] = useState({ height: 400, rowHeight: 36 });
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = (): void => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      setMeasures({ height: current.clientHeight, rowHeight: Math.round(2.25 * rem) });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return measures;
}

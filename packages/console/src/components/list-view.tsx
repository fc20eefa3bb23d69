import { maxCounted } from '@tenon/protocol/list-limits';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ListQuery, PagedList } from '../state/use-list.ts';
import { Button } from './button.tsx';
import { count, counted } from './count.ts';
import type { Option } from './field.tsx';
import { Loaded } from './loaded.tsx';

interface ListFilter {
  /** The server's parameter. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly Option[];
}

export interface ListProps<Row> {
  readonly list: PagedList<Row>;
  /** What the list holds: "Guests". */
  readonly caption: string;
  /** One entry: "guest". */
  readonly noun: string;
  /** The fields that the search covers: "Guest key, user or note". */
  readonly searchHint?: string;
  readonly filters?: readonly ListFilter[];
  /** Shown if there are no entries at all. */
  readonly empty: ComponentChildren;
}

/** Shorter lists need no search box. */
const maxWithoutSearch = 7;

/** A list of the server, one page at a time, with search and filters. */
export function ListView<Row>(
  props: ListProps<Row> & { readonly children: (rows: readonly Row[]) => ComponentChildren },
) {
  const { list, caption, noun, searchHint, filters = [] } = props;
  const { page, query, change } = list;
  const listTop = useRef<HTMLElement>(null);
  const isFiltered = ['q', ...filters.map(({ name }) => name)].some((name) => query[name] !== undefined);
  const turnTo = (cursor: string | undefined): void => {
    change({ cursor });
    listTop.current?.focus({ preventScroll: true }); // the new page may disable the button that was pressed
    listTop.current?.scrollIntoView({ block: 'start' });
  };
  const clear = (): void =>
    change({ q: undefined, ...Object.fromEntries(filters.map(({ name }) => [name, undefined])) });
  return (
    <Loaded of={page}>
      {({ objects, total = objects.length, nextCursor, previousCursor }) => {
        if (list.isEmpty) return props.empty;
        const hasTools = searchHint !== undefined && (isFiltered || total > maxWithoutSearch);
        return (
          <>
            {hasTools ? (
              <search class="list-tools">
                <SearchBox
                  label={`Search: ${searchHint}`}
                  value={query.q ?? ''}
                  placeholder={searchHint}
                  onChange={(q) => change({ q }, { isTyping: true })}
                />
                {filters.map((filter) => (
                  <FilterChoice key={filter.name} filter={filter} query={query} onChange={change} />
                ))}
                <span class="list-count" role="status">
                  {total > maxCounted ? `More than ${count(maxCounted)} ${noun}s` : counted(total, noun)}
                </span>
              </search>
            ) : null}
            <section
              ref={listTop}
              tabIndex={-1}
              class="list-page"
              aria-label={caption}
              aria-busy={list.isStale}
              data-stale={list.isStale || undefined}
            >
              {objects.length > 0 ? (
                props.children(objects)
              ) : isFiltered && query.cursor === undefined ? (
                <NoMatches text={query.q} onClear={clear} />
              ) : (
                <p class="soft">This page is empty.</p>
              )}
            </section>
            {query.cursor === undefined && nextCursor === undefined ? null : (
              <Pager
                label={`Pages: ${caption}`}
                previous={previousCursor}
                next={nextCursor}
                isFirst={query.cursor === undefined}
                onTurn={turnTo}
              />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** The search starts when the user pauses. */
const pauseMs = 250;

function SearchBox(props: {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly onChange: (text: string) => void;
}) {
  const { value, onChange } = props;
  const id = useId();
  const [text, setText] = useState(value);
  const searched = useRef(value);
  // The address changes without typing when the user goes back, or clears the search.
  useEffect(() => {
    if (value === searched.current) return;
    searched.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === searched.current) return;
    const timer = setTimeout(() => {
      searched.current = wanted;
      onChange(wanted);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="search">
      <label for={id} class="visually-hidden">
        {props.label}
      </label>
      <input
        id={id}
        type="search"
        value={text}
        maxLength={200}
        placeholder={props.placeholder}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </div>
  );
}

function FilterChoice(props: {
  readonly filter: ListFilter;
  readonly query: ListQuery;
  readonly onChange: (change: ListQuery) => void;
}) {
  const { name, label, options } = props.filter;
  const value = props.query[name] ?? '';
  return (
    <select
      class="list-filter"
      aria-label={label}
      value={value}
      onChange={(event) => props.onChange({ [name]: event.currentTarget.value })}
    >
      {[{ value: '', label }, ...options].map((option) => (
        <option key={option.value} value={option.value} selected={option.value === value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

function NoMatches({ text, onClear }: { readonly text: string | undefined; readonly onClear: () => void }) {
  return (
    <div class="stack">
      <p class="soft">{text === undefined ? 'No matches' : `No matches for “${text}”`}</p>
      <Button kind="quiet" isSmall onClick={onClear}>
        Show all
      </Button>
    </div>
  );
}

function Pager(props: {
  readonly label: string;
  readonly previous: string | undefined;
  readonly next: string | undefined;
  readonly isFirst: boolean;
  readonly onTurn: (cursor: string | undefined) => void;
}) {
  const { previous, next, isFirst, onTurn } = props;
  return (
    <nav class="pager" aria-label={props.label}>
      <Button kind="quiet" isSmall isDisabled={isFirst} onClick={() => onTurn(undefined)}>
        First
      </Button>
      <span class="actions">
        <Button kind="quiet" isSmall isDisabled={previous === undefined} onClick={() => onTurn(previous)}>
          Previous
        </Button>
        <Button kind="quiet" isSmall isDisabled={next === undefined} onClick={() => onTurn(next)}>
          Next
        </Button>
      </span>
    </nav>
  );
}

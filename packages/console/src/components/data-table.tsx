import type { ComponentChildren } from 'preact';
import { useId, useMemo, useRef, useState } from 'preact/hooks';
import { useCachedState } from '../state/use-cached.ts';
import { Button } from './button.tsx';
import { count } from './count.ts';
import { type Column, Table } from './table.tsx';

/** So many rows are drawn at once. */
const pageSize = 50;

/** A list that may be long: searched and turned over here, so that thousands of rows stay fast. */
export function DataTable<Row>(props: {
  /** What the table holds: "Guests". */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** What a row is found by. */
  readonly searchText: (row: Row) => string;
  /** What the search box says: "Guest key, user or note". */
  readonly searchHint: string;
  /** What is looked for stays under this key when one comes back to the page. */
  readonly keptAs: string;
}) {
  const { caption, columns, rows, rowKey, searchText } = props;
  const [wanted, setWanted] = useCachedState(`search ${props.keptAs}`, '');
  const [page, setPage] = useState(0);
  const texts = useMemo(() => rows.map((row) => searchText(row).toLowerCase()), [rows]);
  const found = useMemo(() => {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    return words.length === 0 ? rows : rows.filter((_, at) => words.every((word) => texts[at]?.includes(word)));
  }, [rows, texts, wanted]);
  const lastPage = Math.max(0, Math.ceil(found.length / pageSize) - 1);
  const shownPage = Math.min(page, lastPage);
  const begin = shownPage * pageSize;
  const listTop = useRef<HTMLElement>(null);
  const turnTo = (wantedPage: number): void => {
    setPage(wantedPage);
    listTop.current?.focus({ preventScroll: true }); // the button that was pressed may be of no use on the new page
    listTop.current?.scrollIntoView({ block: 'start' });
  };
  const hasSearch = rows.length > 7 || wanted !== '';
  return (
    <>
      {hasSearch ? (
        <div class="list-tools">
          <SearchBox
            label={`Search: ${props.searchHint}`}
            value={wanted}
            placeholder={props.searchHint}
            onInput={(text) => {
              setWanted(text);
              setPage(0);
            }}
          />
          <span class="list-count" role="status">
            {wanted.trim() === '' ? `${count(rows.length)} in all` : `${count(found.length)} of ${count(rows.length)}`}
          </span>
        </div>
      ) : null}
      {found.length === 0 ? (
        <NothingFound wanted={wanted} onClear={() => setWanted('')} />
      ) : (
        <section ref={listTop} tabIndex={-1} class="list-page" aria-label={caption}>
          <Table caption={caption} columns={columns} rows={found.slice(begin, begin + pageSize)} rowKey={rowKey} />
        </section>
      )}
      {lastPage === 0 ? null : (
        <Pager page={shownPage} lastPage={lastPage} onPage={turnTo} label={`Pages: ${caption}`}>
          {count(begin + 1)}–{count(Math.min(begin + pageSize, found.length))} of {count(found.length)}
        </Pager>
      )}
    </>
  );
}

function SearchBox(props: {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly onInput: (text: string) => void;
}) {
  const id = useId();
  return (
    <div class="search">
      <label for={id} class="visually-hidden">
        {props.label}
      </label>
      <input
        id={id}
        type="search"
        value={props.value}
        placeholder={props.placeholder}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </div>
  );
}

function NothingFound({ wanted, onClear }: { readonly wanted: string; readonly onClear: () => void }) {
  return (
    <div class="stack">
      <p class="soft">Nothing fits “{wanted}”.</p>
      <Button kind="quiet" isSmall onClick={onClear}>
        Show all
      </Button>
    </div>
  );
}

function Pager(props: {
  readonly page: number;
  readonly lastPage: number;
  readonly onPage: (page: number) => void;
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  const { page, lastPage, onPage } = props;
  return (
    <nav class="pager" aria-label={props.label}>
      <span>{props.children}</span>
      <span class="actions">
        <Button kind="quiet" isSmall isDisabled={page === 0} onClick={() => onPage(page - 1)}>
          Back
        </Button>
        <Button kind="quiet" isSmall isDisabled={page === lastPage} onClick={() => onPage(page + 1)}>
          Next
        </Button>
      </span>
    </nav>
  );
}

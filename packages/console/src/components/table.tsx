import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** For the column of buttons: it has no header to see, and stands at the end. */
  readonly isActions?: boolean;
  /** The server's name of the order by this column. */
  readonly sort?: string;
}

export interface Sorting {
  /** The present order; `-` before it means descending. */
  readonly sort: string | undefined;
  readonly onSort: (sort: string) => void;
}

/** A table, which becomes a card per row where there is no room for columns. The first column names its row. */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  sorting,
}: {
  /** What the table holds, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly sorting?: Sorting;
}) {
  return (
    <table class="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ header, isActions, sort }) =>
            sort !== undefined && sorting !== undefined ? (
              <SortHeader key={header} header={header} by={sort} sorting={sorting} />
            ) : (
              <th key={header} scope="col">
                {isActions ? <span class="visually-hidden">{header}</span> : header}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map(({ header, cell, isActions }, at) =>
              at === 0 ? (
                <th key={header} scope="row">
                  {cell(row)}
                </th>
              ) : (
                <td key={header} class={isActions ? 'cell-actions' : undefined}>
                  {isActions ? null : (
                    <span class="cell-label" aria-hidden="true">
                      {header}
                    </span>
                  )}
                  <span class="cell-value">{cell(row)}</span>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A header that sorts by its column, and on another press in the other direction. */
function SortHeader(props: { readonly header: string; readonly by: string; readonly sorting: Sorting }) {
  const { header, by, sorting } = props;
  const direction = sorting.sort === by ? 'ascending' : sorting.sort === `-${by}` ? 'descending' : 'none';
  return (
    <th scope="col" aria-sort={direction} class="sortable">
      <button type="button" onClick={() => sorting.onSort(direction === 'ascending' ? `-${by}` : by)}>
        {header}
        <span aria-hidden="true" class="sort-mark">
          {direction === 'descending' ? '↓' : '↑'}
        </span>
      </button>
    </th>
  );
}

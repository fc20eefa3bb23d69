import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** For the column of buttons: it has no header to see, and stands at the end. */
  readonly isActions?: boolean;
}

/** A table, which becomes a card per row where there is no room for columns. The first column names its row. */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
}: {
  /** What the table holds, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
}) {
  return (
    <table class="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ header, isActions }) => (
            <th key={header} scope="col">
              {isActions ? <span class="visually-hidden">{header}</span> : header}
            </th>
          ))}
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

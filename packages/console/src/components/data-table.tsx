import type { ComponentChildren } from 'preact';
import type { PagedList } from '../state/use-list.ts';
import { type ListProps, ListView } from './list-view.tsx';
import { type Column, Table } from './table.tsx';

/** A list of the server as a table: one page at a time, with search, filters, and sortable columns. */
export function DataTable<Row>({
  columns,
  rowKey,
  ...list
}: ListProps<Row> & { readonly columns: readonly Column<Row>[]; readonly rowKey: (row: Row) => string }) {
  return (
    <ListView {...list}>
      {(rows): ComponentChildren => (
        <Table caption={list.caption} columns={columns} rows={rows} rowKey={rowKey} sorting={sortingOf(list.list)} />
      )}
    </ListView>
  );
}

function sortingOf({ sort, change }: PagedList<unknown>) {
  return { sort, onSort: (wanted: string) => change({ sort: wanted }) };
}

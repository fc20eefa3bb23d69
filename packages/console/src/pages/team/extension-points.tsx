import type { App, ExtensionPoint } from '@tenon/protocol';
import { LinkButton } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useList } from '../../state/use-list.ts';
import { AppFrame } from './app-frame.tsx';
import { mayManage, useApp } from './use-app.ts';

/** An application's extension points. */
export function ExtensionPointsPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Extension points">
      {(data) => <ExtensionPoints app={data} />}
    </AppFrame>
  );
}

function ExtensionPoints({ app }: { readonly app: App }) {
  const points = useList<ExtensionPoint>(`/api/v1/apps/${app.id}/extension-points`, {
    fixed: { schema: 'names' },
    sort: 'name',
  });
  const make = mayManage(app.role) ? (
    <LinkButton to={`/apps/${app.id}/extension-points/new`}>New extension point</LinkButton>
  ) : undefined;
  return (
    <Section title="Extension points" actions={points.isEmpty ? undefined : make}>
      <DataTable
        list={points}
        caption="Extension points"
        noun="extension point"
        searchHint="Name or id"
        empty={
          <EmptyState title="No extension points yet" action={make}>
            <p>
              An extension point is a place in your application where plugins plug in. Its schema lists the exports that
              a plugin must have. Guests read it as documentation.
            </p>
          </EmptyState>
        }
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Name',
            sort: 'name',
            cell: ({ id, name }) => <Link to={`/apps/${app.id}/extension-points/${id}`}>{name}</Link>,
          },
          { header: 'Exports', cell: ({ schema }) => <ExportNames names={Object.keys(schema.exports)} /> },
          { header: 'Id', cell: ({ id }) => <code class="small">{id}</code> },
          { header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
        ]}
      />
    </Section>
  );
}

/** The most exports that a row names. */
const shownNames = 4;

function ExportNames({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <span class="soft">no exports</span>;
  const more = names.length - shownNames;
  return (
    <>
      <ul class="names">
        {names.slice(0, shownNames).map((name) => (
          <li key={name}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
      {more > 0 ? <span class="soft"> and {more} more</span> : null}
    </>
  );
}

import type { App, ExtensionPoint } from '@tenon/protocol';
import { LinkButton } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { AppFrame } from './app-frame.tsx';
import { mayManage, useApp } from './use-app.ts';

/** The places in an application where plugins fit in. */
export function ExtensionPointsPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Extension points">
      {(data) => <ExtensionPoints app={data} />}
    </AppFrame>
  );
}

function ExtensionPoints({ app }: { readonly app: App }) {
  const api = useApi();
  const path = `/api/v1/apps/${app.id}/extension-points`;
  const list = useCachedData(path, (signal) => api.list<ExtensionPoint>(path, { signal }));
  const make = mayManage(app.role) ? (
    <LinkButton to={`/apps/${app.id}/extension-points/new`}>New extension point</LinkButton>
  ) : undefined;
  const isEmpty = list.status === 'ready' && list.data.length === 0;
  return (
    <Section title="Extension points" actions={isEmpty ? undefined : make}>
      <Loaded of={list}>
        {(points) =>
          points.length === 0 ? (
            <EmptyState title="No extension points yet" action={make}>
              <p>
                An extension point is a place in your application where plugins fit in. Its schema says what a plugin
                has to export; guests read it as documentation.
              </p>
            </EmptyState>
          ) : (
            <DataTable
              caption="Extension points"
              keptAs={path}
              rows={points}
              rowKey={({ id }) => id}
              searchHint="Name, id or export"
              searchText={({ name, id, schema }) => [name, id, ...Object.keys(schema.exports)].join(' ')}
              columns={[
                {
                  header: 'Name',
                  cell: ({ id, name }) => <Link to={`/apps/${app.id}/extension-points/${id}`}>{name}</Link>,
                },
                { header: 'Exports', cell: ({ schema }) => <ExportNames names={Object.keys(schema.exports)} /> },
                { header: 'Id', cell: ({ id }) => <code class="small">{id}</code> },
                { header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
              ]}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

/** So many names stand in a table. */
const shownNames = 4;

function ExportNames({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <span class="soft">none named</span>;
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

import type { Guest, GuestBinding } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';
import { ContentAddressView } from '../../components/content-address.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useList } from '../../state/use-list.ts';
import { teamPluginPath } from '../plugin/plugin-path.ts';

/** The plugins under a guest's key at all extension points, with the active version of each. */
export function BoundPlugins({ appId, guest }: { readonly appId: string; readonly guest: Guest }) {
  const bindings = useList<GuestBinding>(`/api/v1/apps/${appId}/guests/${guest.id}/bindings`, { prefix: 'plugins-' });
  return (
    <Section title="Plugins" intro="What hosts get for this guest key.">
      <DataTable
        list={bindings}
        caption="Plugins"
        noun="plugin"
        searchHint="Plugin name"
        empty={<p class="soft">No plugins yet</p>}
        rowKey={({ pluginId }) => pluginId}
        columns={[
          {
            header: 'Plugin',
            cell: ({ pluginId, name }) => (
              <Link to={teamPluginPath(appId, pluginId)}>
                <code>{name}</code>
              </Link>
            ),
          },
          {
            header: 'Extension point',
            cell: ({ extensionPoint: { id, name } }) => (
              <Link to={`/apps/${appId}/extension-points/${id}`}>{name}</Link>
            ),
          },
          { header: 'Published by', cell: ({ user }) => user.name },
          { header: 'Version', cell: (binding) => <BoundVersion binding={binding} /> },
          {
            header: 'Content address',
            cell: ({ contentAddress }) =>
              contentAddress === null ? <span class="soft">–</span> : <ContentAddressView address={contentAddress} />,
          },
          { header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: ({ name, contentAddress }) =>
              contentAddress === null ? null : <DownloadButton name={name} contentAddress={contentAddress} />,
          },
        ]}
      />
    </Section>
  );
}

function BoundVersion({ binding }: { readonly binding: GuestBinding }) {
  const { version, pinnedVersion, rolledBackTo, isBlocked, blockReason } = binding;
  return (
    <span class="badges">
      {version === null ? <span class="soft">none</span> : version}
      {isBlocked ? (
        <span title={blockReason ?? undefined}>
          <Badge kind="bad">blocked</Badge>
        </span>
      ) : null}
      {pinnedVersion === null ? null : (
        <Badge kind="waiting">{pinnedVersion === version ? 'pinned' : `pinned to ${pinnedVersion}`}</Badge>
      )}
      {rolledBackTo !== null && rolledBackTo === version && pinnedVersion === null ? <Badge>rolled back</Badge> : null}
    </span>
  );
}

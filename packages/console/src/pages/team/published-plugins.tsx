import type { ExtensionPoint, Plugin } from '@tenon/protocol';
import { byteSize } from '../../components/byte-size.ts';
import { DataTable } from '../../components/data-table.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useList } from '../../state/use-list.ts';
import { InUseBadge } from '../plugin/in-use-badge.tsx';
import { teamPluginPath } from '../plugin/plugin-path.ts';

/** The plugins that guests have published for an extension point. */
export function PublishedPlugins({ extensionPoint: { id, appId } }: { readonly extensionPoint: ExtensionPoint }) {
  const plugins = useList<Plugin>(`/api/v1/extension-points/${id}/plugins`, { filters: ['state'], sort: 'name' });
  return (
    <Section title="Plugins">
      <DataTable
        list={plugins}
        caption="Plugins"
        noun="plugin"
        searchHint="Name, publisher or guest key"
        filters={[{ name: 'state', label: 'Any state', options: states }]}
        empty={
          <p class="soft">
            No plugins yet. <Link to={`/apps/${appId}/guests`}>Invite a guest</Link> to publish one.
          </p>
        }
        rowKey={({ id: pluginId }) => pluginId}
        columns={[
          {
            header: 'Plugin',
            sort: 'name',
            cell: ({ id: pluginId, name }) => (
              <Link to={teamPluginPath(appId, pluginId)}>
                <code>{name}</code>
              </Link>
            ),
          },
          { header: 'Published by', cell: ({ userName }) => userName },
          { header: 'Active for', cell: (plugin) => <GuestKeys appId={appId} plugin={plugin} /> },
          {
            header: 'Active',
            cell: (plugin) => (
              <span title={plugin.status.detail}>
                <InUseBadge plugin={plugin} />
              </span>
            ),
          },
          {
            header: 'Newest version',
            cell: ({ version, size }) => (
              <>
                {version.number} <span class="soft small">· {byteSize(size)}</span>
              </>
            ),
          },
          { header: 'Published', sort: 'publishedAt', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: ({ name, contentAddress }) => <DownloadButton name={name} contentAddress={contentAddress} />,
          },
        ]}
      />
    </Section>
  );
}

const states = [
  { value: 'published', label: 'Newest published' },
  { value: 'awaiting_approval', label: 'Newest awaiting approval' },
  { value: 'rejected', label: 'Newest rejected' },
  { value: 'yanked', label: 'Newest yanked' },
  { value: 'blocked', label: 'Blocked' },
];

const shownKeys = 3;

function GuestKeys({ appId, plugin }: { readonly appId: string; readonly plugin: Plugin }) {
  const bound = plugin.status.bindings.filter(({ version }) => version !== null);
  if (bound.length === 0) return <span class="soft">no guests</span>;
  const more = bound.length - shownKeys;
  return (
    <>
      <ul class="names">
        {bound.slice(0, shownKeys).map(({ guestId, guestKey }) => (
          <li key={guestId}>
            <Link to={`/apps/${appId}/guests/${guestId}`}>
              <code>{guestKey}</code>
            </Link>
          </li>
        ))}
      </ul>
      {more > 0 ? <span class="soft"> and {more} more</span> : null}
    </>
  );
}

import type { App, Plugin } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { ContentAddressView } from '../../components/content-address.tsx';
import { counted } from '../../components/count.ts';
import { DataTable } from '../../components/data-table.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { Link } from '../../components/link.tsx';
import { Time } from '../../components/time.tsx';
import type { PagedList } from '../../state/use-list.ts';
import { InUseBadge } from '../plugin/in-use-badge.tsx';
import { PluginDescription } from '../plugin/plugin-description.tsx';
import { guestNames } from './guest-names.ts';

/** The user's plugins at an extension point. */
export function OwnPlugins({ app, plugins }: { readonly app: App; readonly plugins: PagedList<Plugin> }) {
  const guests = guestNames(app);
  return (
    <DataTable
      list={plugins}
      caption="Your plugins"
      noun="plugin"
      searchHint="Plugin name"
      empty={<p class="soft">None yet. Plugins that you publish appear here.</p>}
      rowKey={({ id }) => id}
      columns={[
        {
          header: 'Plugin',
          sort: 'name',
          cell: ({ name, extensionPointId, description }) => (
            <>
              <Link to={`/apps/${app.id}/my-plugins/${extensionPointId}/${name}`}>
                <code>{name}</code>
              </Link>
              <PluginDescription text={description} />
            </>
          ),
        },
        {
          header: 'Version',
          cell: ({ version: { number, semver } }) => (
            <>
              {number}
              {semver === null ? null : <span class="soft small"> · {semver}</span>}
            </>
          ),
        },
        { header: 'Size', cell: ({ size }) => byteSize(size) },
        { header: 'Published', sort: 'publishedAt', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
        { header: 'Content address', cell: ({ contentAddress }) => <ContentAddressView address={contentAddress} /> },
        { header: 'Active', cell: (plugin) => <ActiveState plugin={plugin} guests={guests} /> },
        {
          header: 'Actions',
          isActions: true,
          cell: ({ name, contentAddress }) => <DownloadButton name={name} contentAddress={contentAddress} />,
        },
      ]}
    />
  );
}

/** With more guests, only their number is shown. */
const shownGuests = 3;

/** A plugin's state: a short text if hosts get the newest version everywhere, otherwise the server's explanation. */
function ActiveState({ plugin, guests }: { readonly plugin: Plugin; readonly guests: ReadonlyMap<string, string> }) {
  const { status, version, guestIds, hasMoreGuests } = plugin;
  const isServed =
    status.state === 'published' &&
    guestIds.length > 0 &&
    !hasMoreGuests &&
    status.bindings.every((bound) => bound.version === version.number);
  if (!isServed) {
    return (
      <span class="standing">
        <InUseBadge plugin={plugin} />
        <span class="small">{status.detail}</span>
      </span>
    );
  }
  if (guests.size < 2) return <Badge kind="good">yes</Badge>;
  if (guestIds.length > shownGuests) return <Badge kind="good">for {counted(guestIds.length, 'guest')}</Badge>;
  return (
    <span class="bound">
      {guestIds.map((id) => (
        <span key={id} title={id}>
          <Badge kind="good">{guests.get(id) ?? 'another guest'}</Badge>
        </span>
      ))}
    </span>
  );
}

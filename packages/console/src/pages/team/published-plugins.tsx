import type { ExtensionPoint, Guest, Plugin } from '@tenon/protocol';
import { byteSize } from '../../components/byte-size.ts';
import { DataTable } from '../../components/data-table.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { InUseBadge } from '../plugin/in-use-badge.tsx';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { inUse } from '../plugin/plugin-words.ts';

/** Every plugin that guests have published against an extension point. */
export function PublishedPlugins({ extensionPoint: { id, appId } }: { readonly extensionPoint: ExtensionPoint }) {
  const api = useApi();
  const found = useCachedData(`plugins ${id}`, async (signal) => {
    const [plugins, guests] = await Promise.all([
      api.list<Plugin>(`/api/v1/extension-points/${id}/plugins`, { signal }),
      api.list<Guest>(`/api/v1/apps/${appId}/guests`, { signal }),
    ]);
    return { plugins, guests };
  });
  return (
    <Section title="Plugins">
      <Loaded of={found}>
        {({ plugins, guests }) =>
          plugins.length === 0 ? (
            <p class="soft">
              Nobody has published one yet. <Link to={`/apps/${appId}/guests`}>Invite a guest</Link> who writes one.
            </p>
          ) : (
            <PluginTable appId={appId} keptAs={`plugins ${id}`} plugins={plugins} guests={guests} />
          )
        }
      </Loaded>
    </Section>
  );
}

function PluginTable(props: {
  readonly appId: string;
  readonly keptAs: string;
  readonly plugins: readonly Plugin[];
  readonly guests: readonly Guest[];
}) {
  const { appId, plugins, guests } = props;
  const guestOf = new Map(guests.map((guest) => [guest.id, guest]));
  const nameOf = new Map(guests.flatMap(({ users }) => users.map(({ userId, name }) => [userId, name])));
  const keysOf = ({ guestIds }: Plugin) => guestIds.flatMap((id) => guestOf.get(id) ?? []);
  return (
    <DataTable
      caption="Plugins"
      keptAs={props.keptAs}
      rows={plugins}
      rowKey={({ id }) => id}
      searchHint="Name, publisher, guest key, state or address"
      searchText={(plugin) =>
        [
          plugin.name,
          plugin.userId,
          nameOf.get(plugin.userId) ?? '',
          plugin.contentAddress,
          inUse(plugin).text,
          ...keysOf(plugin).map(({ guestKey }) => guestKey),
        ].join('\n')
      }
      columns={[
        {
          header: 'Plugin',
          cell: ({ id, name }) => (
            <Link to={teamPluginPath(appId, id)}>
              <code>{name}</code>
            </Link>
          ),
        },
        { header: 'Published by', cell: ({ userId }) => nameOf.get(userId) ?? <code class="small">{userId}</code> },
        { header: 'Bound to', cell: (plugin) => <GuestKeys appId={appId} guests={keysOf(plugin)} /> },
        {
          header: 'Newest version',
          cell: ({ version, size }) => (
            <>
              {version.number} <span class="soft small">· {byteSize(size)}</span>
            </>
          ),
        },
        {
          header: 'In use',
          cell: (plugin) => (
            <span title={plugin.status.detail}>
              <InUseBadge plugin={plugin} />
            </span>
          ),
        },
        { header: 'Published', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
        {
          header: 'Actions',
          isActions: true,
          cell: ({ name, contentAddress }) => <DownloadButton name={name} contentAddress={contentAddress} />,
        },
      ]}
    />
  );
}

const shownKeys = 3;

function GuestKeys({ appId, guests }: { readonly appId: string; readonly guests: readonly Guest[] }) {
  if (guests.length === 0) return <span class="soft">nobody</span>;
  const more = guests.length - shownKeys;
  return (
    <>
      <ul class="names">
        {guests.slice(0, shownKeys).map(({ id, guestKey }) => (
          <li key={id}>
            <Link to={`/apps/${appId}/guests/${id}`}>
              <code>{guestKey}</code>
            </Link>
          </li>
        ))}
      </ul>
      {more > 0 ? <span class="soft"> and {more} more</span> : null}
    </>
  );
}

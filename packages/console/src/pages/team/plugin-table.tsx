import type { PluginSummary } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { Badge } from '../../components/badge.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { count } from '../../components/count.ts';
import { DataTable } from '../../components/data-table.tsx';
import type { Option } from '../../components/field.tsx';
import { Link } from '../../components/link.tsx';
import { Time } from '../../components/time.tsx';
import { UsageCell } from '../../components/usage/usage-cell.tsx';
import { useList } from '../../state/use-list.ts';
import { useUsage } from '../../state/use-usage.ts';
import { PluginDescription } from '../plugin/plugin-description.tsx';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { stateWords, versionsInUse } from '../plugin/plugin-words.ts';

/** The plugins of an application, or only those of one extension point. */
export function PluginTable(props: {
  readonly appId: string;
  /** Shows only the plugins of this extension point. */
  readonly extensionPointId?: string;
  /** The extension points to filter by. */
  readonly points?: readonly Option[];
  readonly empty: ComponentChildren;
}) {
  const { appId, extensionPointId, points = [] } = props;
  const plugins = useList<PluginSummary>(`/api/v1/apps/${appId}/plugins`, {
    filters: ['state', 'isBound', ...(extensionPointId === undefined ? ['extensionPointId'] : [])],
    sort: 'name',
    ...(extensionPointId !== undefined && { fixed: { extensionPointId } }),
  });
  const { page } = plugins;
  const usage = useUsage(appId, page.status === 'ready' ? page.data.objects.map(({ id }) => id) : []);
  return (
    <DataTable
      list={plugins}
      caption="Plugins"
      noun="plugin"
      searchHint="Name, publisher or guest key"
      filters={[
        { name: 'state', label: 'Any state', options: states },
        { name: 'isBound', label: 'Active or not', options: activity },
        ...(points.length > 1 ? [{ name: 'extensionPointId', label: 'Any extension point', options: points }] : []),
      ]}
      empty={props.empty}
      rowKey={({ id }) => id}
      columns={[
        {
          header: 'Plugin',
          sort: 'name',
          cell: ({ id, name, description }) => (
            <>
              <Link to={teamPluginPath(appId, id)}>
                <code>{name}</code>
              </Link>
              <PluginDescription text={description} />
            </>
          ),
        },
        ...(extensionPointId === undefined ? [pointColumn(appId)] : []),
        { header: 'Published by', cell: ({ user }: PluginSummary) => user.name },
        { header: 'Active for', cell: (plugin: PluginSummary) => <Guests appId={appId} plugin={plugin} /> },
        { header: 'Active', cell: (plugin: PluginSummary) => <InUse plugin={plugin} /> },
        {
          header: 'Requests, 30 days',
          cell: ({ id }: PluginSummary) =>
            usage.status === 'ready' ? <UsageCell series={usage.data.get(id)} /> : null,
        },
        {
          header: 'Newest version',
          cell: ({ version, size }: PluginSummary) => (
            <>
              {version.number} <span class="soft small">· {byteSize(size)}</span>
            </>
          ),
        },
        {
          header: 'Published',
          sort: 'publishedAt',
          cell: ({ updatedAt }: PluginSummary) => <Time at={updatedAt} />,
        },
      ]}
    />
  );
}

const states = [
  { value: 'published', label: 'Newest published' },
  { value: 'testing', label: 'Newest being tested' },
  { value: 'failed', label: 'Newest failed' },
  { value: 'awaiting_approval', label: 'Newest awaiting approval' },
  { value: 'rejected', label: 'Newest rejected' },
  { value: 'yanked', label: 'Newest yanked' },
  { value: 'blocked', label: 'Blocked' },
];

const activity = [
  { value: 'true', label: 'Active' },
  { value: 'false', label: 'Not active' },
];

function pointColumn(appId: string) {
  return {
    header: 'Extension point',
    cell: ({ extensionPoint: { id, name } }: PluginSummary) => (
      <Link to={`/apps/${appId}/extension-points/${id}`}>{name}</Link>
    ),
  };
}

function InUse({ plugin }: { readonly plugin: PluginSummary }) {
  const { text, kind } = versionsInUse(plugin);
  const title = plugin.reason === null ? undefined : `${stateWords[plugin.state]}: ${plugin.reason}`;
  return (
    <span title={title}>
      <Badge kind={kind}>{text}</Badge>
    </span>
  );
}

function Guests({ appId, plugin }: { readonly appId: string; readonly plugin: PluginSummary }) {
  const { guests, guestCount, hasMoreGuests } = plugin;
  if (guestCount === 0) return <span class="soft">no guests</span>;
  const more = guestCount - guests.length;
  return (
    <>
      <ul class="names">
        {guests.map(({ id, guestKey }) => (
          <li key={id}>
            <Link to={`/apps/${appId}/guests/${id}`}>
              <code>{guestKey}</code>
            </Link>
          </li>
        ))}
      </ul>
      {more > 0 ? (
        <span class="soft">
          {' '}
          and {hasMoreGuests ? 'more than ' : ''}
          {count(more)} more
        </span>
      ) : null}
    </>
  );
}

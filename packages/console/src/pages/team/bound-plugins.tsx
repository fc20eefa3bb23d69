import type { GuestBinding } from '@tenon/protocol';
import type { ApiClient } from '../../api/client.ts';
import { Badge } from '../../components/badge.tsx';
import { ContentAddressView } from '../../components/content-address.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import type { InvitedGuest } from './guest-data.ts';

/** What hosts get for the guest's key, at each extension point, and what is held back from them. */
export function BoundPlugins({ appId, guest }: { readonly appId: string; readonly guest: InvitedGuest }) {
  const api = useApi();
  const bound = useCachedData(`bound ${guest.id}`, (signal) => fetchBound(api, appId, guest.id, signal));
  return (
    <Section title="Plugins" intro="What your program gets when it asks for the plugins of this guest key.">
      <Loaded of={bound}>
        {(points) =>
          points.every(({ plugins }) => plugins.length === 0) ? (
            <p class="soft">Nothing is published under this guest yet.</p>
          ) : (
            points
              .filter(({ plugins }) => plugins.length > 0)
              .map(({ extensionPoint, plugins }) => (
                <div key={extensionPoint.id} class="stack">
                  <h3>
                    At <Link to={`/apps/${appId}/extension-points/${extensionPoint.id}`}>{extensionPoint.name}</Link>
                  </h3>
                  <BindingTable appId={appId} extensionPoint={extensionPoint} plugins={plugins} />
                </div>
              ))
          )
        }
      </Loaded>
    </Section>
  );
}

function BindingTable(props: {
  readonly appId: string;
  readonly extensionPoint: GuestBinding['extensionPoint'];
  readonly plugins: readonly GuestBinding[];
}) {
  return (
    <Table
      caption={`Plugins at ${props.extensionPoint.name}`}
      rows={props.plugins}
      rowKey={({ name }) => name}
      columns={[
        {
          header: 'Plugin',
          cell: ({ pluginId, name }) => (
            <Link to={teamPluginPath(props.appId, pluginId)}>
              <code>{name}</code>
            </Link>
          ),
        },
        { header: 'Published by', cell: ({ user }) => user.name },
        { header: 'Version', cell: (binding) => <BoundVersion binding={binding} /> },
        {
          header: 'Content address',
          cell: ({ contentAddress }) =>
            contentAddress === null ? <span class="soft">none</span> : <ContentAddressView address={contentAddress} />,
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
  );
}

function BoundVersion({ binding }: { readonly binding: GuestBinding }) {
  const { version, pinnedVersion, rolledBackTo, isBlocked, blockReason } = binding;
  return (
    <span class="badges">
      {version === null ? <span class="soft">nothing</span> : version}
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

interface BoundAtPoint {
  readonly extensionPoint: GuestBinding['extensionPoint'];
  readonly plugins: readonly GuestBinding[];
}

async function fetchBound(
  api: ApiClient,
  appId: string,
  guestId: string,
  signal: AbortSignal,
): Promise<BoundAtPoint[]> {
  const bindings = await api.list<GuestBinding>(`/api/v1/apps/${appId}/guests/${guestId}/bindings`, { signal });
  return [...Map.groupBy(bindings, ({ extensionPoint }) => extensionPoint.id).values()].flatMap((plugins) => {
    const [first] = plugins;
    return first === undefined ? [] : [{ extensionPoint: first.extensionPoint, plugins }];
  });
}

import type { Binding, BindingList, ExtensionPoint } from '@tenon/protocol';
import type { ApiClient } from '../../api/client.ts';
import { ContentAddressView } from '../../components/content-address.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useKeptData } from '../../state/use-kept.ts';
import { compareText, type InvitedGuest } from './guest-data.ts';

/** What hosts get for the guest's key, at each extension point. */
export function BoundPlugins({ appId, guest }: { readonly appId: string; readonly guest: InvitedGuest }) {
  const api = useApi();
  const bound = useKeptData(`bound ${guest.id}`, (signal) => fetchBound(api, appId, guest.guestKey, signal));
  const nameOf = new Map(guest.users.map(({ userId, name }) => [userId, name]));
  return (
    <Section title="Plugins" intro="What your program gets when it asks for the plugins of this guest key.">
      <Loaded of={bound}>
        {(points) =>
          points.every(({ plugins }) => plugins.length === 0) ? (
            <p class="soft">
              {points.length === 0
                ? 'The application has no extension points yet.'
                : 'Nothing is published under this guest yet.'}
            </p>
          ) : (
            points
              .filter(({ plugins }) => plugins.length > 0)
              .map(({ extensionPoint, plugins }) => (
                <div key={extensionPoint.id} class="stack">
                  <h3>
                    At <Link to={`/apps/${appId}/extension-points/${extensionPoint.id}`}>{extensionPoint.name}</Link>
                  </h3>
                  <Table
                    caption={`Plugins at ${extensionPoint.name}`}
                    rows={plugins}
                    rowKey={({ name }) => name}
                    columns={[
                      { header: 'Plugin', cell: ({ name }) => <code>{name}</code> },
                      { header: 'Published by', cell: ({ userId }) => nameOf.get(userId) ?? <code>{userId}</code> },
                      {
                        header: 'Content address',
                        cell: ({ contentAddress }) => <ContentAddressView address={contentAddress} />,
                      },
                      { header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                      {
                        header: 'Actions',
                        isActions: true,
                        cell: ({ name, contentAddress }) => (
                          <DownloadButton name={name} contentAddress={contentAddress} />
                        ),
                      },
                    ]}
                  />
                </div>
              ))
          )
        }
      </Loaded>
    </Section>
  );
}

interface BoundPlugin extends Binding {
  readonly name: string;
  readonly userId: string;
}

interface BoundAtPoint {
  readonly extensionPoint: ExtensionPoint;
  readonly plugins: readonly BoundPlugin[];
}

/** So many lists are asked for at the same time. */
const atOnce = 6;

async function fetchBound(
  api: ApiClient,
  appId: string,
  guestKey: string,
  signal: AbortSignal,
): Promise<BoundAtPoint[]> {
  const points = await api.list<ExtensionPoint>(`/api/v1/apps/${appId}/extension-points`, { signal });
  const bound: BoundAtPoint[] = [];
  for (let at = 0; at < points.length; at += atOnce) {
    const some = points.slice(at, at + atOnce).map(async (extensionPoint) => {
      const path = `/api/v1/extension-points/${extensionPoint.id}/bindings/${encodeURIComponent(guestKey)}`;
      return { extensionPoint, plugins: pluginsOf(await api.get<BindingList>(path, { signal })) };
    });
    bound.push(...(await Promise.all(some)));
  }
  return bound;
}

function pluginsOf(list: BindingList): BoundPlugin[] {
  return Object.entries(list)
    .map(([name, binding]) => ({ ...binding, name, userId: binding.id.split('/')[2] ?? '' }))
    .sort((a, b) => compareText(a.name, b.name));
}

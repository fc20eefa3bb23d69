import type { PluginBinding } from '@tenon/protocol';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Link } from '../../components/link.tsx';
import { useList } from '../../state/use-list.ts';
import { versionWords, whyBound } from './plugin-words.ts';
import type { PluginData } from './use-plugin.ts';

/** A plugin's active version under each guest, and the reason. */
export function BoundTable(props: {
  readonly data: PluginData;
  /** Where the plugin is in the API. */
  readonly apiPath: string;
  /** What to call guests, by id, for a publisher: the server returns guest keys only to the team. */
  readonly guests: ReadonlyMap<string, string>;
  /** The path of a guest's page; for the team. */
  readonly guestPath?: ((guestId: string) => string) | undefined;
  /** Called when the bindings are there. */
  readonly onLoaded: () => void;
  /** For users who may pin. */
  readonly onPin?: ((binding: PluginBinding) => void) | undefined;
  readonly onUnpin?: ((binding: PluginBinding) => void) | undefined;
}) {
  const { data, guests, guestPath, onPin, onUnpin, onLoaded } = props;
  const { plugin, versions } = data;
  const isTeam = guestPath !== undefined;
  const bindings = useList<PluginBinding>(`${props.apiPath}/bindings`, {
    ...(isTeam && { sort: 'guestKey' }),
    limit: 20,
  });
  const { reload } = bindings.page;
  const shownPlugin = useRef(plugin);
  useEffect(() => {
    if (shownPlugin.current !== plugin) reload();
    shownPlugin.current = plugin;
  }, [plugin]);
  const isLoading = bindings.page.status === 'loading';
  useEffect(() => {
    if (!isLoading) onLoaded();
  }, [isLoading]);
  const nameOf = ({ guestId, guestKey }: PluginBinding) => guestKey ?? guests.get(guestId) ?? 'another guest';
  const hasPublished = versions.some(({ state }) => state === 'published');
  return (
    <DataTable
      list={bindings}
      caption={`Active versions of ${plugin.name}`}
      noun="guest"
      {...(isTeam && { searchHint: 'Guest key' })}
      empty={<p class="soft">None: all guests that it was published for are removed.</p>}
      rowKey={({ guestId }) => guestId}
      columns={[
        {
          header: 'Guest',
          ...(isTeam && { sort: 'guestKey' }),
          cell: (binding) =>
            isTeam ? <Link to={guestPath(binding.guestId)}>{nameOf(binding)}</Link> : nameOf(binding),
        },
        {
          header: 'Version',
          cell: ({ version }) =>
            version === null ? <span class="soft">{versionWords(version)}</span> : versionWords(version),
        },
        { header: 'Reason', cell: (binding) => whyBound(data, binding) },
        ...(onPin === undefined || onUnpin === undefined
          ? []
          : [
              {
                header: 'Actions',
                isActions: true,
                cell: (binding: PluginBinding) => (
                  <span class="row-actions">
                    {hasPublished ? (
                      <Button
                        kind="quiet"
                        isSmall
                        label={`${binding.pinnedTo === null ? 'Pin' : 'Change pin'} for ${nameOf(binding)}`}
                        onClick={() => onPin(binding)}
                      >
                        {binding.pinnedTo === null ? 'Pin…' : 'Change pin…'}
                      </Button>
                    ) : null}
                    {binding.pinnedTo === null ? null : (
                      <Button
                        kind="quiet"
                        isSmall
                        label={`Unpin for ${nameOf(binding)}`}
                        onClick={() => onUnpin(binding)}
                      >
                        Unpin…
                      </Button>
                    )}
                  </span>
                ),
              },
            ]),
      ]}
    />
  );
}

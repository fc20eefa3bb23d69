import { Button } from '../../components/button.tsx';
import { Link } from '../../components/link.tsx';
import { Table } from '../../components/table.tsx';
import { guestCount, versionWords, whyBound } from './plugin-words.ts';
import type { PluginData } from './use-plugin.ts';
import type { Binding } from './version-actions.ts';

/** A plugin's active version under each guest, and the reason. */
export function BoundTable(props: {
  readonly data: PluginData;
  readonly guests: ReadonlyMap<string, string>;
  /** The path of a guest's page. */
  readonly guestPath?: ((guestId: string) => string) | undefined;
  /** For users who may pin. */
  readonly onPin?: ((binding: Binding) => void) | undefined;
  readonly onUnpin?: ((binding: Binding) => void) | undefined;
}) {
  const { data, guests, guestPath, onPin, onUnpin } = props;
  const { plugin, versions } = data;
  const { bindings } = plugin.status;
  if (bindings.length === 0) {
    return <p class="soft">None: all guests that it was published for are removed.</p>;
  }
  const nameOf = ({ guestId }: Binding) => guests.get(guestId) ?? 'a removed guest';
  const hasPublished = versions.some(({ state }) => state === 'published');
  const table = (
    <Table
      caption={`Active versions of ${plugin.name}`}
      rows={bindings}
      rowKey={({ guestId }) => guestId}
      columns={[
        {
          header: 'Guest',
          cell: (binding) =>
            guestPath !== undefined && guests.has(binding.guestId) ? (
              <Link to={guestPath(binding.guestId)}>{nameOf(binding)}</Link>
            ) : (
              nameOf(binding)
            ),
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
                cell: (binding: Binding) => (
                  <span class="row-actions">
                    {hasPublished ? (
                      <Button
                        kind="quiet"
                        isSmall
                        label={`${binding.pinnedTo === null ? 'Pin' : 'Change pin'} for ${nameOf(binding)}`}
                        onClick={() => onPin(binding)}
                      >
                        {binding.pinnedTo === null ? 'Pin …' : 'Change pin …'}
                      </Button>
                    ) : null}
                    {binding.pinnedTo === null ? null : (
                      <Button
                        kind="quiet"
                        isSmall
                        label={`Unpin for ${nameOf(binding)}`}
                        onClick={() => onUnpin(binding)}
                      >
                        Unpin …
                      </Button>
                    )}
                  </span>
                ),
              },
            ]),
      ]}
    />
  );
  if (!plugin.hasMoreGuests) return table;
  const guestIds = bindings.map(({ guestId }) => guestId);
  return (
    <>
      {table}
      <p class="soft small">The plugin has its name under {guestCount(guestIds, true)}; the others are not listed.</p>
    </>
  );
}

import type { Plugin } from '@tenon/protocol';
import { Button } from '../../components/button.tsx';
import { Link } from '../../components/link.tsx';
import { Table } from '../../components/table.tsx';
import { boundBy, type Claim, type PluginModel } from './plugin-model.ts';
import { boundWords, guestCount, whyBound } from './plugin-words.ts';

/** Under which guests a plugin has its name, what is bound under each, and why. */
export function BoundTable(props: {
  readonly plugin: Plugin;
  readonly model: PluginModel;
  readonly guests: ReadonlyMap<string, string>;
  /** Where a guest has a page of its own. */
  readonly guestPath?: ((guestId: string) => string) | undefined;
  /** For those who may pin: what is pressed. */
  readonly onPin?: ((claim: Claim) => void) | undefined;
  readonly onUnpin?: ((claim: Claim) => void) | undefined;
}) {
  const { model, guests, guestPath, onPin, onUnpin } = props;
  if (model.claims.length === 0) {
    return <p class="soft">Under none: every guest that it was published under is gone.</p>;
  }
  const nameOf = ({ guestId }: Claim) => guests.get(guestId) ?? 'a guest that is gone';
  const hasPublished = model.versions.some(({ state }) => state === 'published');
  const table = (
    <Table
      caption={`What is bound of ${props.plugin.name}`}
      rows={model.claims}
      rowKey={({ guestId }) => guestId}
      columns={[
        {
          header: 'Guest',
          cell: (claim) =>
            guestPath !== undefined && guests.has(claim.guestId) ? (
              <Link to={guestPath(claim.guestId)}>{nameOf(claim)}</Link>
            ) : (
              nameOf(claim)
            ),
        },
        {
          header: 'Gets',
          cell: (claim) => {
            const bound = boundBy(model, claim);
            return bound === null ? <span class="soft">{boundWords(bound)}</span> : boundWords(bound);
          },
        },
        { header: 'Because', cell: (claim) => whyBound(model, claim) },
        ...(onPin === undefined || onUnpin === undefined
          ? []
          : [
              {
                header: 'Actions',
                isActions: true,
                cell: (claim: Claim) => (
                  <span class="row-actions">
                    {hasPublished ? (
                      <Button
                        kind="quiet"
                        isSmall
                        label={`${claim.pinnedTo === null ? 'Pin' : 'Change pin'} for ${nameOf(claim)}`}
                        onClick={() => onPin(claim)}
                      >
                        {claim.pinnedTo === null ? 'Pin …' : 'Change pin …'}
                      </Button>
                    ) : null}
                    {claim.pinnedTo === null ? null : (
                      <Button kind="quiet" isSmall label={`Unpin for ${nameOf(claim)}`} onClick={() => onUnpin(claim)}>
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
  if (!props.plugin.hasMoreGuests) return table;
  const guestIds = model.claims.map(({ guestId }) => guestId);
  return (
    <>
      {table}
      <p class="soft small">The plugin has its name under {guestCount(guestIds, true)}; the others are not listed.</p>
    </>
  );
}

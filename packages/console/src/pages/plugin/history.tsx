import type { Version } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { ContentAddressView } from '../../components/content-address.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { Time } from '../../components/time.tsx';
import { isReturnToNewest, type PluginModel, type Sides, type VersionAction, versionActions } from './plugin-model.ts';
import { decisionWords, stateBadges, stateWords } from './plugin-words.ts';

/** So many versions are drawn at once. */
const pageSize = 20;

/** A plugin's versions as a line in time, the newest first, each with what may be done to it. */
export function History(props: {
  readonly name: string;
  readonly model: PluginModel;
  readonly versions: readonly Version[];
  readonly guests: ReadonlyMap<string, string>;
  readonly sides: Sides;
  readonly onAction: (action: VersionAction, version: Version) => void;
}) {
  const { versions } = props;
  const [shown, setShown] = useState(pageSize);
  return (
    <>
      <ol class="history">
        {versions.slice(0, shown).map((version) => (
          <HistoryEntry key={version.id} {...props} version={version} />
        ))}
      </ol>
      {versions.length <= shown ? null : (
        <Button kind="quiet" isSmall onClick={() => setShown(shown + pageSize)}>
          Older versions
        </Button>
      )}
    </>
  );
}

interface EntryProps {
  readonly name: string;
  readonly model: PluginModel;
  readonly version: Version;
  readonly guests: ReadonlyMap<string, string>;
  readonly sides: Sides;
  readonly onAction: (action: VersionAction, version: Version) => void;
}

function HistoryEntry({ name, model, version, guests, sides, onAction }: EntryProps) {
  const { number, semver, note, state, createdAt, size, contentAddress, boundGuestIds } = version;
  return (
    <li class={`history-entry history-${state}`}>
      <div class="history-head">
        <h3>
          Version {number}
          {semver === null ? null : <span class="history-semver"> {semver}</span>}
        </h3>
        {boundGuestIds.length > 0 ? <Badge kind="good">{boundUnder(version, guests, model)}</Badge> : null}
        {state === 'published' ? null : <Badge kind={stateBadges[state]}>{stateWords[state]}</Badge>}
      </div>
      {note === null ? null : <p class="history-note">{note}</p>}
      <Decision version={version} />
      <p class="history-facts">
        <Time at={createdAt} />
        <span>{byteSize(size)}</span>
        <ContentAddressView address={contentAddress} />
        <UnderSome version={version} model={model} guests={guests} />
      </p>
      <div class="actions history-actions">
        {versionActions(model, version, sides).map((action) => (
          <Button
            key={action}
            kind="quiet"
            isSmall
            label={actionLabel(action, number, model)}
            onClick={() => onAction(action, version)}
          >
            {actionWords(action, number, model)}
          </Button>
        ))}
        <DownloadButton
          name={`${name}-${number}`}
          label={`Download version ${number}`}
          contentAddress={contentAddress}
        />
      </div>
    </li>
  );
}

function Decision({ version }: { readonly version: Version }) {
  const words = decisionWords(version);
  const { stateReason, stateChangedAt } = version;
  if (words === undefined) return null;
  return (
    <div class="history-decision">
      <p>
        {words} <Time at={stateChangedAt} />
        {stateReason === null ? '.' : ':'}
      </p>
      {stateReason === null ? null : <blockquote>{stateReason}</blockquote>}
    </div>
  );
}

/** Said only of a version that went to some of the plugin's guests. */
function UnderSome({ version: { guestIds }, model, guests }: Pick<EntryProps, 'version' | 'model' | 'guests'>) {
  const claimed = model.claims.map(({ guestId }) => guestId);
  const reached = claimed.filter((id) => guestIds.includes(id));
  if (reached.length === claimed.length || model.hasMoreGuests) return null;
  return <span>{reached.length === 0 ? 'for no present guest' : `for ${namesOf(reached, guests)} alone`}</span>;
}

function boundUnder(
  { boundGuestIds: ids, hasMoreGuests }: Version,
  guests: ReadonlyMap<string, string>,
  { claims }: PluginModel,
): string {
  if (hasMoreGuests || ids.length === claims.length) return 'in use';
  return `in use by ${namesOf(ids, guests)}`;
}

const listFormat = new Intl.ListFormat('en');

function namesOf(ids: readonly string[], guests: ReadonlyMap<string, string>): string {
  if (ids.length > 2) return `${ids.length} guests`;
  return listFormat.format(ids.map((id) => guests.get(id) ?? 'a guest that is gone'));
}

function actionWords(action: VersionAction, number: number, model: PluginModel): string {
  switch (action) {
    case 'rollBack':
      return isReturnToNewest(model, number) ? 'Go back …' : 'Roll back …';
    case 'approve':
      return 'Approve …';
    case 'reject':
      return 'Reject …';
    case 'yank':
      return 'Yank …';
    case 'restore':
      return 'Restore …';
  }
}

/** Many buttons say the same; to who hears them, they say of which version. */
function actionLabel(action: VersionAction, number: number, model: PluginModel): string {
  const words = actionWords(action, number, model).replace(/ …$/, '');
  return `${words}${action === 'rollBack' ? ' to' : ''} version ${number}`;
}

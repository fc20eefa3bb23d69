import type { Version } from '@tenon/protocol';
import { isRollOutOpen } from '@tenon/protocol/roll-out-limits';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { ContentAddressView } from '../../components/content-address.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { Time } from '../../components/time.tsx';
import { TraceLink } from '../../components/trace-link.tsx';
import { useSubmit } from '../../state/use-submit.ts';
import { RollOutDetails } from '../roll-outs/roll-out-section.tsx';
import { rollOutStates } from '../roll-outs/roll-out-words.ts';
import { VerdictBadge, VersionTestDetails } from '../simulations/version-test.tsx';
import { OciDetails } from './oci-details.tsx';
import { decisionWords, stateBadges, stateWords } from './plugin-words.ts';
import { ProvenanceBadge, ProvenanceDetails } from './provenance.tsx';
import { SbomDetails } from './sbom-details.tsx';
import type { PluginData } from './use-plugin.ts';
import {
  hasMoreGuests,
  isNewestEverywhere,
  type Roles,
  type VersionAction,
  versionActions,
} from './version-actions.ts';
import { VersionDiffDetails } from './version-diff.tsx';

/** How many versions are shown at first, and with each press of the button. */
const pageSize = 20;

interface HistoryProps {
  readonly data: PluginData;
  /** The plugin's path in the API. */
  readonly apiPath: string;
  readonly guests: ReadonlyMap<string, string>;
  readonly roles: Roles;
  /** Whether the user is a member of the team. */
  readonly isMember: boolean;
  readonly onAction: (action: VersionAction, version: Version) => void;
  /** Called after the simulations of a version were started again. */
  readonly onTested: () => void;
  readonly onOlder: () => Promise<void>;
}

/** A plugin's versions on a timeline, the newest first, each with its actions. */
export function History(props: HistoryProps) {
  const { versions, olderCursor } = props.data;
  const [shown, setShown] = useState(pageSize);
  const older = useSubmit(async () => {
    if (shown + pageSize > versions.length && olderCursor !== undefined) await props.onOlder();
    setShown(shown + pageSize);
  });
  return (
    <>
      <ol class="history">
        {versions.slice(0, shown).map((version) => (
          <HistoryEntry key={version.id} {...props} version={version} />
        ))}
      </ol>
      <ErrorView error={older.error} />
      {versions.length <= shown && olderCursor === undefined ? null : (
        <Button kind="quiet" isSmall isBusy={older.isBusy} onClick={older.submit}>
          Older versions
        </Button>
      )}
    </>
  );
}

interface EntryProps extends Omit<HistoryProps, 'onOlder'> {
  readonly version: Version;
}

function HistoryEntry({ data, apiPath, version, guests, roles, isMember, onAction, onTested }: EntryProps) {
  const { name } = data.plugin;
  const { number, semver, note, state, createdAt, size, contentAddress, boundGuestIds, rollOut } = version;
  return (
    <li class={`history-entry history-${state}`}>
      <div class="history-head">
        <h3>
          Version {number}
          {semver === null ? null : <span class="history-semver"> {semver}</span>}
        </h3>
        {boundGuestIds.length > 0 ? <Badge kind="good">{activeFor(version, guests, data)}</Badge> : null}
        {state === 'published' ? null : <Badge kind={stateBadges[state]}>{stateWords[state]}</Badge>}
        {wereTested(data) && !saysVerdict(version) ? <VerdictBadge version={version} /> : null}
        <ProvenanceBadge version={version} />
        {rollOut != null && isRollOutOpen(rollOut.state) ? (
          <Badge kind={rollOutStates[rollOut.state].kind}>{rollOutStates[rollOut.state].word}</Badge>
        ) : null}
      </div>
      {note === null ? null : <p class="history-note">{note}</p>}
      <Decision version={version} />
      {state === 'cooling_down' ? <ReleaseTime version={version} /> : null}
      <p class="history-facts">
        <Time at={createdAt} />
        <span>{byteSize(size)}</span>
        <ContentAddressView address={contentAddress} />
        <PublishedFor version={version} data={data} guests={guests} />
      </p>
      <div class="actions history-actions">
        {versionActions(data, version, roles).map((action) => (
          <Button
            key={action}
            kind="quiet"
            isSmall
            label={actionLabel(action, version, data)}
            onClick={() => onAction(action, version)}
          >
            {actionWords(action, version, data)}
          </Button>
        ))}
        <DownloadButton
          name={`${name}-${number}`}
          label={`Download version ${number}`}
          contentAddress={contentAddress}
        />
        <TraceLink name={`${name}-${number}.wasm`} of={`version ${number}`} contentAddress={contentAddress} />
      </div>
      {wereTested(data) ? (
        <VersionTestDetails
          versionPath={`${apiPath}/versions/${number}`}
          version={version}
          of={`version ${number}`}
          fileName={`${name}-${number}`}
          mayRun={roles.isHost || roles.isPublisher}
          isOpen={number === data.versions[0]?.number}
          extensionPointId={roles.isPublisher ? data.plugin.extensionPointId : undefined}
          onChanged={onTested}
        />
      ) : null}
      <ProvenanceDetails
        versionPath={`${apiPath}/versions/${number}`}
        of={`version ${number}`}
        fileName={`${name}-${number}`}
      />
      <VersionDiffDetails
        versionPath={`${apiPath}/versions/${number}`}
        against={
          ['testing', 'failed', 'awaiting_approval', 'cooling_down'].includes(state) || number === 1
            ? undefined
            : number - 1
        }
        of={`version ${number}`}
      />
      {rollOut == null || isRollOutOpen(rollOut.state) ? null : (
        <RollOutDetails
          versionPath={`${apiPath}/versions/${number}`}
          version={version}
          roles={roles}
          isMember={isMember}
          guests={guests}
          onChanged={onTested}
        />
      )}
      <SbomDetails versionPath={`${apiPath}/versions/${number}`} version={version} name={name} />
      <OciDetails version={version} name={name} isBlocked={data.plugin.status.state === 'blocked'} />
    </li>
  );
}

/** Where no version was tested, verdicts say nothing. */
function wereTested({ versions }: PluginData): boolean {
  return versions.some(
    ({ state, verdict }) => state === 'testing' || (verdict ?? 'none_configured') !== 'none_configured',
  );
}

/** Some states say the verdict too. */
function saysVerdict({ state, verdict }: Version): boolean {
  return (state === 'failed' && verdict === 'failed') || (state === 'testing' && verdict === null);
}

/** When a version that waits for its minimum age is published. */
export function ReleaseTime({ version: { releaseAt } }: { readonly version: Pick<Version, 'releaseAt'> }) {
  return (
    <p>
      Published automatically <Time at={releaseAt} />.
    </p>
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

/** The guests of a version that was published only for some of the plugin's guests. */
function PublishedFor({ version: { guestIds }, data, guests }: Pick<EntryProps, 'version' | 'data' | 'guests'>) {
  const bound = data.plugin.status.bindings.map(({ guestId }) => guestId);
  const reached = bound.filter((id) => guestIds.includes(id));
  if (reached.length === bound.length || hasMoreGuests(data)) return null;
  return <span>{reached.length === 0 ? 'only for removed guests' : `only for ${namesOf(reached, guests)}`}</span>;
}

function activeFor(version: Version, guests: ReadonlyMap<string, string>, { plugin }: PluginData): string {
  const { boundGuestIds: ids, hasMoreGuests } = version;
  if (hasMoreGuests || ids.length === plugin.status.bindings.length) return 'active';
  return `active for ${namesOf(ids, guests)}`;
}

const listFormat = new Intl.ListFormat('en');

function namesOf(ids: readonly string[], guests: ReadonlyMap<string, string>): string {
  if (ids.length > 2) return `${ids.length} guests`;
  return listFormat.format(ids.map((id) => guests.get(id) ?? 'another guest'));
}

function actionWords(action: VersionAction, version: Version, data: PluginData): string {
  switch (action) {
    case 'rollBack':
      return isNewestEverywhere(data, version) ? 'End rollback…' : 'Roll back…';
    case 'approve':
      return 'Approve…';
    case 'reject':
      return 'Reject…';
    case 'release':
      return 'Release now…';
    case 'yank':
      return 'Yank…';
    case 'restore':
      return 'Restore…';
  }
}

/** The accessible name, which also has the version: several buttons have the same text. */
function actionLabel(action: VersionAction, version: Version, data: PluginData): string {
  const words = actionWords(action, version, data).replace(/…$/, '');
  const link = words === 'Roll back' ? ' to' : words === 'End rollback' ? ' and use' : '';
  return `${words}${link} version ${version.number}`;
}

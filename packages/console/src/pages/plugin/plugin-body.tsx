import type { App, Version } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useAccount } from '../../state/services.ts';
import { useHeadingFocus } from '../../state/use-heading-focus.ts';
import { BlockSection } from './block-section.tsx';
import { BoundTable } from './bound-table.tsx';
import { DeletePlugin } from './delete-plugin.tsx';
import { History } from './history.tsx';
import { InUseBadge } from './in-use-badge.tsx';
import { PinDialog, UnpinDialog } from './pin-dialog.tsx';
import { decisionWords, stateBadges, stateWords } from './plugin-words.ts';
import type { PluginData } from './use-plugin.ts';
import { type Binding, isNewestEverywhere, rolesOf, type VersionAction } from './version-actions.ts';
import { VersionDialog } from './version-dialog.tsx';
import './plugin.css';

/** A plugin's status, active versions, history, and actions. The same for its publisher and the team. */
export function PluginBody(props: {
  readonly app: App;
  readonly data: PluginData;
  /** The plugin's path in the API. */
  readonly apiPath: string;
  /** The names of its guests by id: keys for the team, neutral names for others. */
  readonly guests: ReadonlyMap<string, string>;
  readonly guestPath?: (guestId: string) => string;
  /** The publisher, for the team. */
  readonly publisher?: ComponentChildren;
  /** The page to show after the plugin is deleted. */
  readonly listPath: string;
  readonly onChanged: () => void;
  readonly onOlderVersions: () => Promise<void>;
}) {
  const { app, data, apiPath, guests, guestPath, publisher } = props;
  const { plugin, versions } = data;
  const account = useAccount();
  const [dialog, setDialog] = useState<ComponentChildren>();
  const keepFocus = useHeadingFocus();
  const onDone = (): void => {
    keepFocus();
    props.onChanged();
  };
  const roles = rolesOf(app, plugin, account.id);
  const waiting = versions.filter(({ state }) => state === 'awaiting_approval');
  const shared = { guests, onDone, onClose: () => setDialog(undefined) };
  const confirm = (action: VersionAction, version: Version): void =>
    setDialog(
      <VersionDialog
        {...shared}
        action={action}
        version={version}
        endsRollback={isNewestEverywhere(data, version)}
        apiPath={apiPath}
        isPublishedByOther={!roles.isPublisher}
      />,
    );
  const pin = (Dialog: typeof PinDialog, binding: Binding): void => {
    const { extensionPointId, name } = plugin;
    const pinPath = `/api/v1/extension-points/${extensionPointId}/guests/${binding.guestId}/pins/${name}`;
    const guest = binding.guestKey ?? guests.get(binding.guestId) ?? 'this guest';
    setDialog(<Dialog {...shared} binding={binding} guest={guest} versions={versions} apiPath={pinPath} />);
  };
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Status</dt>
          <dd>
            <InUseBadge plugin={plugin} />
          </dd>
        </div>
        {publisher === undefined ? null : (
          <div>
            <dt>Published by</dt>
            <dd>{publisher}</dd>
          </div>
        )}
        <div>
          <dt>Newest version</dt>
          <dd>
            {plugin.version.number}
            {plugin.version.semver === null ? '' : ` · ${plugin.version.semver}`}{' '}
            <Badge kind={stateBadges[plugin.version.state]}>{stateWords[plugin.version.state]}</Badge>{' '}
            <span class="soft small">
              <Time at={plugin.version.createdAt} />
            </span>
          </dd>
        </div>
        <div>
          <dt>First published</dt>
          <dd>
            <Time at={plugin.createdAt} />
          </dd>
        </div>
      </dl>
      <StandingNotice data={data} isHost={roles.isHost}>
        {roles.isHost && waiting[0] !== undefined ? <ApprovalActions version={waiting[0]} onAction={confirm} /> : null}
      </StandingNotice>
      <Section
        title="Active versions"
        intro={`The version ${publisher === undefined ? app.name : 'your app'} gets for each guest.`}
      >
        <BoundTable
          data={data}
          apiPath={apiPath}
          guests={guests}
          guestPath={guestPath}
          onPin={roles.isHost ? (binding) => pin(PinDialog, binding) : undefined}
          onUnpin={roles.isHost ? (binding) => pin(UnpinDialog, binding) : undefined}
        />
      </Section>
      <Section title="History">
        <History data={data} guests={guests} roles={roles} onAction={confirm} onOlder={props.onOlderVersions} />
      </Section>
      {roles.isHost ? <BlockSection plugin={plugin} apiPath={apiPath} guests={guests} onDone={onDone} /> : null}
      {roles.isHost || roles.isPublisher ? (
        <DeletePlugin
          plugin={plugin}
          versions={versions.length}
          apiPath={apiPath}
          guests={guests}
          isHost={roles.isHost}
          listPath={props.listPath}
        />
      ) : null}
      {dialog}
    </>
  );
}

/** Says that the plugin is blocked, that a version awaits approval, or that the newest version is not published. */
function StandingNotice(props: {
  readonly data: PluginData;
  readonly isHost: boolean;
  readonly children: ComponentChildren;
}) {
  const { status, version } = props.data.plugin;
  const newest = props.data.versions[0];
  if (status.state === 'published') return null;
  const isWaiting = status.state === 'awaiting_approval';
  const title = isWaiting
    ? `Version ${version.number} awaits ${props.isHost ? 'your approval' : 'the team’s approval'}`
    : status.state === 'blocked'
      ? 'The team has blocked this plugin'
      : `Version ${version.number}: ${newest === undefined ? '' : (decisionWords(newest)?.toLowerCase() ?? '')}`;
  return (
    <div class="standing-notice">
      <Notice kind={isWaiting && !props.isHost ? 'info' : 'warning'} title={title}>
        {status.reason === null ? null : <blockquote>{status.reason}</blockquote>}
        {isWaiting && !props.isHost ? <p>You don’t need to do anything. You’ll see the team’s decision here.</p> : null}
        {props.children}
      </Notice>
    </div>
  );
}

function ApprovalActions(props: {
  readonly version: Version;
  readonly onAction: (action: 'approve' | 'reject', version: Version) => void;
}) {
  const { version, onAction } = props;
  return (
    <div class="actions">
      <Button isSmall onClick={() => onAction('approve', version)}>
        Approve version {version.number} …
      </Button>
      <Button kind="quiet" isSmall onClick={() => onAction('reject', version)}>
        Reject version {version.number} …
      </Button>
    </div>
  );
}

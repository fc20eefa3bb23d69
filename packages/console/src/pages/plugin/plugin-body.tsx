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
import { type Claim, modelOf, sidesOf, type VersionAction } from './plugin-model.ts';
import { decisionWords, stateBadges, stateWords } from './plugin-words.ts';
import type { PluginData } from './use-plugin.ts';
import { VersionDialog } from './version-dialog.tsx';
import './plugin.css';

/** What is being asked. */
type Asked =
  | { readonly kind: VersionAction; readonly version: Version }
  | { readonly kind: 'pin'; readonly claim: Claim }
  | { readonly kind: 'unpin'; readonly claim: Claim };

/** A plugin: where it stands, what is bound of it, its history, and what one may do to it. The same for its publisher and the team. */
export function PluginBody(props: {
  readonly app: App;
  readonly data: PluginData;
  /** Where the plugin is in the API. */
  readonly apiPath: string;
  /** What to call its guests, by id: keys for the team, neutral names for others. */
  readonly guests: ReadonlyMap<string, string>;
  readonly guestPath?: (guestId: string) => string;
  /** Who publishes it, for the team. */
  readonly publisher?: ComponentChildren;
  /** Where one is taken once the plugin is deleted. */
  readonly listPath: string;
  readonly onChanged: () => void;
}) {
  const { app, data, apiPath, guests, guestPath, publisher } = props;
  const { plugin, versions } = data;
  const account = useAccount();
  const [asked, setAsked] = useState<Asked>();
  const close = (): void => setAsked(undefined);
  const keepFocus = useHeadingFocus();
  const onDone = (): void => {
    keepFocus();
    props.onChanged();
  };
  const model = modelOf(plugin, versions);
  const sides = sidesOf(app, plugin, account.id);
  const pinPath = ({ guestId }: Claim) =>
    `/api/v1/extension-points/${plugin.extensionPointId}/guests/${guestId}/pins/${plugin.name}`;
  const waiting = versions.filter(({ state }) => state === 'awaiting_approval');
  const shared = { model, guests, onDone, onClose: close };
  return (
    <>
      <dl class="facts">
        <div>
          <dt>In use</dt>
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
      <StandingNotice data={data} isHost={sides.isHost}>
        {sides.isHost && waiting[0] !== undefined ? (
          <ApprovalActions version={waiting[0]} onAsk={(kind, version) => setAsked({ kind, version })} />
        ) : null}
      </StandingNotice>
      <Section
        title="What is bound"
        intro={
          publisher === undefined
            ? `What ${app.name} is told when it asks for the plugins of each guest.`
            : 'What your program is told when it asks for the plugins of each guest key.'
        }
      >
        <BoundTable
          plugin={plugin}
          model={model}
          guests={guests}
          guestPath={guestPath}
          onPin={sides.isHost ? (claim) => setAsked({ kind: 'pin', claim }) : undefined}
          onUnpin={sides.isHost ? (claim) => setAsked({ kind: 'unpin', claim }) : undefined}
        />
      </Section>
      <Section title="History">
        <History
          name={plugin.name}
          model={model}
          versions={versions}
          guests={guests}
          sides={sides}
          onAction={(kind, version) => setAsked({ kind, version })}
        />
      </Section>
      {sides.isHost ? <BlockSection plugin={plugin} apiPath={apiPath} {...shared} /> : null}
      {sides.isHost || sides.isPublisher ? (
        <DeletePlugin
          plugin={plugin}
          model={model}
          versions={versions.length}
          apiPath={apiPath}
          isHost={sides.isHost}
          listPath={props.listPath}
        />
      ) : null}
      {asked === undefined ? null : asked.kind === 'pin' ? (
        <PinDialog claim={asked.claim} versions={versions} apiPath={pinPath(asked.claim)} {...shared} />
      ) : asked.kind === 'unpin' ? (
        <UnpinDialog claim={asked.claim} apiPath={pinPath(asked.claim)} {...shared} />
      ) : (
        <VersionDialog
          action={asked.kind}
          version={asked.version}
          apiPath={apiPath}
          isHost={sides.isHost && !sides.isPublisher}
          {...shared}
        />
      )}
    </>
  );
}

/** What one has to know before all else: that it is stopped, that something waits, or what became of the newest version. */
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
    ? `Version ${version.number} waits for ${props.isHost ? 'your approval' : 'the team’s approval'}`
    : status.state === 'blocked'
      ? 'The team has blocked this plugin'
      : `Version ${version.number}: ${newest === undefined ? '' : (decisionWords(newest)?.toLowerCase() ?? '')}`;
  return (
    <div class="standing-notice">
      <Notice kind={isWaiting && !props.isHost ? 'info' : 'warning'} title={title}>
        {status.reason === null ? null : <blockquote>{status.reason}</blockquote>}
        {isWaiting && !props.isHost ? (
          <p>You need to do nothing: somebody of the team looks at it, and you read here what they decided.</p>
        ) : null}
        {props.children}
      </Notice>
    </div>
  );
}

function ApprovalActions(props: {
  readonly version: Version;
  readonly onAsk: (action: 'approve' | 'reject', version: Version) => void;
}) {
  const { version, onAsk } = props;
  return (
    <div class="actions">
      <Button isSmall onClick={() => onAsk('approve', version)}>
        Approve version {version.number} …
      </Button>
      <Button kind="quiet" isSmall onClick={() => onAsk('reject', version)}>
        Reject version {version.number} …
      </Button>
    </div>
  );
}

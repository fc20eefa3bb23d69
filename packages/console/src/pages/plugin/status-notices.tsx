import type { Version } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { ReleaseTime } from './history.tsx';
import { decisionWords, stateWords } from './plugin-words.ts';
import type { PluginData } from './use-plugin.ts';
import type { Roles, VersionAction } from './version-actions.ts';

interface Props {
  readonly data: PluginData;
  readonly roles: Roles;
  readonly onAction: (action: VersionAction, version: Version) => void;
  readonly onUnblock: () => void;
}

/** Says that the plugin is blocked, that a version awaits approval, or that the newest version is not published. */
export function StatusNotices(props: Props) {
  const { plugin, versions } = props.data;
  const { state } = plugin.status;
  const waiting = versions.find((version) => version.state === 'awaiting_approval');
  const cooling = versions.filter((version) => version.state === 'cooling_down');
  if (state === 'published') return null;
  return (
    <div class="status-notices">
      {state === 'awaiting_approval' || state === 'cooling_down' ? null : <StateNotice {...props} />}
      {waiting === undefined ? null : <WaitingNotice {...props} version={waiting} />}
      {cooling.slice(0, 1).map((version) => (
        <CoolingNotice {...props} key={version.id} version={version} />
      ))}
    </div>
  );
}

function StateNotice({ data, roles, onUnblock }: Props) {
  const { status, version } = data.plugin;
  const isBlocked = status.state === 'blocked';
  const { isPublisherBlocked } = status;
  const blockedTitle = isPublisherBlocked
    ? 'The team has blocked all plugins of the publisher'
    : 'The team has blocked this plugin';
  const newest = data.versions[0];
  const decision = (newest && decisionWords(newest)?.toLowerCase()) ?? stateWords[version.state];
  return (
    <Notice
      kind={status.state === 'testing' ? 'info' : 'warning'}
      title={isBlocked ? blockedTitle : `Version ${version.number}: ${decision}`}
    >
      {status.reason === null ? null : <blockquote>{status.reason}</blockquote>}
      {isBlocked && roles.isHost ? (
        <>
          <p>Hosts get no version of it, and no versions can be published.</p>
          <div class="actions">
            <Button isSmall onClick={onUnblock}>
              {isPublisherBlocked ? 'Unblock publisher…' : 'Unblock plugin…'}
            </Button>
          </div>
        </>
      ) : null}
    </Notice>
  );
}

function CoolingNotice({ roles, onAction, version }: Props & { readonly version: Version }) {
  return (
    <Notice kind="info" title={`Version ${version.number} waits for its minimum age`}>
      <ReleaseTime version={version} />
      <p>Until then, hosts get the version before it.</p>
      {roles.isHost ? (
        <div class="actions">
          <Button kind="quiet" isSmall onClick={() => onAction('release', version)}>
            Release version {version.number} now…
          </Button>
        </div>
      ) : null}
    </Notice>
  );
}

function WaitingNotice({ roles, onAction, version }: Props & { readonly version: Version }) {
  const { number } = version;
  const notice = (whose: string, children: ComponentChildren) => (
    <Notice kind={roles.isHost ? 'warning' : 'info'} title={`Version ${number} awaits ${whose}`}>
      {children}
    </Notice>
  );
  if (roles.isHost) {
    return notice(
      'your approval',
      <div class="actions">
        <Button isSmall onClick={() => onAction('approve', version)}>
          Approve version {number}…
        </Button>
        <Button kind="quiet" isSmall onClick={() => onAction('reject', version)}>
          Reject version {number}…
        </Button>
      </div>,
    );
  }
  return roles.isPublisher
    ? notice('the team’s approval', <p>You don’t need to do anything. You’ll see the team’s decision here.</p>)
    : notice('approval', <p>Only owners and admins can approve it.</p>);
}

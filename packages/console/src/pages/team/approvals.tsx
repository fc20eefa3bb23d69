import type { App, Approval } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { ContentAddressView } from '../../components/content-address.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import type { Data } from '../../state/use-data.ts';
import { useHeadingFocus } from '../../state/use-heading-focus.ts';
import { pluginApiPath, teamPluginPath } from '../plugin/plugin-path.ts';
import { VersionDialog } from '../plugin/version-dialog.tsx';
import { AppFrame } from './app-frame.tsx';
import { mayManage, useApp } from './use-app.ts';
import './approvals.css';

/** The versions that wait for the team, of all extension points that require approval. */
export function ApprovalsPage() {
  const api = useApi();
  const { appId, app } = useApp();
  const path = `/api/v1/apps/${encodeURIComponent(appId)}/approvals`;
  const approvals = useCachedData(path, (signal) => api.list<Approval>(path, { signal }));
  return (
    <AppFrame app={app} part="Approvals" approvals={approvals.status === 'ready' ? approvals.data.length : undefined}>
      {(data) => <Approvals app={data} approvals={approvals} />}
    </AppFrame>
  );
}

/** So many are drawn at once. */
const pageSize = 20;

interface Asked {
  readonly action: 'approve' | 'reject';
  readonly approval: Approval;
}

function Approvals({ app, approvals }: { readonly app: App; readonly approvals: Data<Approval[]> }) {
  const [shown, setShown] = useState(pageSize);
  const [asked, setAsked] = useState<Asked>();
  const keepFocus = useHeadingFocus();
  return (
    <Section
      title="Approvals"
      intro="Versions that guests have published where approval is required, the oldest first. Nobody gets one before the team has approved it."
    >
      <Loaded of={approvals}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState title="Nothing waits">
              <p>
                An extension point can require that the team looks at each new version before programs get it: see its{' '}
                <Link to={`/apps/${app.id}/extension-points`}>rules</Link>.
              </p>
            </EmptyState>
          ) : (
            <>
              <ol class="approvals">
                {list.slice(0, shown).map((approval) => (
                  <Waiting key={approval.version.id} app={app} approval={approval} onAsk={setAsked} />
                ))}
              </ol>
              {list.length > shown ? (
                <Button kind="quiet" isSmall onClick={() => setShown(shown + pageSize)}>
                  Show more of {list.length}
                </Button>
              ) : null}
            </>
          )
        }
      </Loaded>
      {asked === undefined ? null : (
        <VersionDialog
          action={asked.action}
          version={asked.approval.version}
          apiPath={apiPathOf(asked.approval)}
          guests={undefined}
          isOthers
          onDone={() => {
            const { id } = asked.approval.version;
            keepFocus();
            approvals.update((list) => list.filter(({ version }) => version.id !== id));
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Section>
  );
}

function apiPathOf({ extensionPoint, user, name }: Approval): string {
  return pluginApiPath(extensionPoint.id, user.id, name);
}

function Waiting(props: { readonly app: App; readonly approval: Approval; readonly onAsk: (asked: Asked) => void }) {
  const { app, approval, onAsk } = props;
  const { pluginId, extensionPoint, user, name, version } = approval;
  const { number, semver, note, size, contentAddress, createdAt } = version;
  return (
    <li class="approval">
      <h3>
        <Link to={teamPluginPath(app.id, pluginId)}>
          <code>{name}</code>
        </Link>{' '}
        version {number}
        {semver === null ? null : <span class="soft"> · {semver}</span>}
      </h3>
      <p class="soft">
        {user.name} published it <Time at={createdAt} /> at{' '}
        <Link to={`/apps/${app.id}/extension-points/${extensionPoint.id}`}>{extensionPoint.name}</Link>.
      </p>
      {note === null ? null : <p class="approval-note">{note}</p>}
      <p class="approval-facts soft small">
        <span>{byteSize(size)}</span>
        <ContentAddressView address={contentAddress} />
      </p>
      <div class="actions">
        {mayManage(app.role) ? (
          <>
            <DecideButton action="approve" approval={approval} onAsk={onAsk} />
            <DecideButton action="reject" approval={approval} onAsk={onAsk} />
          </>
        ) : null}
        <DownloadButton
          name={`${name}-${number}`}
          label={`Download version ${number} of ${name}`}
          contentAddress={contentAddress}
        />
      </div>
    </li>
  );
}

function DecideButton(props: Asked & { readonly onAsk: (asked: Asked) => void }) {
  const { action, approval, onAsk } = props;
  const words = action === 'approve' ? 'Approve' : 'Reject';
  return (
    <Button
      kind={action === 'approve' ? 'primary' : 'quiet'}
      isSmall
      label={`${words} version ${approval.version.number} of ${approval.name}`}
      onClick={() => onAsk({ action, approval })}
    >
      {words} …
    </Button>
  );
}

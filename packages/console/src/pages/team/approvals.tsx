import type { App, Approval } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../components/button.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { ContentAddressView } from '../../components/content-address.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { ListView } from '../../components/list-view.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { TraceLink } from '../../components/trace-link.tsx';
import { useHeadingFocus } from '../../state/use-heading-focus.ts';
import { type PagedList, useList } from '../../state/use-list.ts';
import { pluginApiPath, teamPluginPath } from '../plugin/plugin-path.ts';
import { ProvenanceBadge, ProvenanceDetails } from '../plugin/provenance.tsx';
import { SimilarNames } from '../plugin/similar-names.tsx';
import { VersionDialog } from '../plugin/version-dialog.tsx';
import { VersionDiffDetails } from '../plugin/version-diff.tsx';
import { ComparisonDetails } from '../simulations/comparison.tsx';
import { VerdictBadge, VersionTestDetails } from '../simulations/version-test.tsx';
import { AppFrame } from './app-frame.tsx';
import { HeldBackPlugins } from './held-back-plugins.tsx';
import { mayManage, useApp } from './use-app.ts';
import './approvals.css';

/** The versions that await the team's approval, of all extension points. */
export function ApprovalsPage() {
  const { appId, app } = useApp();
  const approvals = useList<Approval>(`/api/v1/apps/${encodeURIComponent(appId)}/approvals`, {
    fixed: { maxGuests: '20' },
    limit: 20,
  });
  const { page, query } = approvals;
  const total = page.status === 'ready' ? page.data.total : 'loading';
  return (
    <AppFrame app={app} part="Approvals" approvals={query.q === undefined ? total : undefined}>
      {(data) => <Approvals app={data} approvals={approvals} />}
    </AppFrame>
  );
}

interface Asked {
  readonly action: 'approve' | 'reject';
  readonly approval: Approval;
}

function Approvals({ app, approvals }: { readonly app: App; readonly approvals: PagedList<Approval> }) {
  const [asked, setAsked] = useState<Asked>();
  const keepFocus = useHeadingFocus();
  return (
    <Section
      title="Approvals"
      intro="Versions that await approval, the oldest first. Hosts don’t get a version before the team has approved it."
      actions={
        <LinkButton kind="quiet" isSmall to={`/apps/${app.id}/roll-outs`}>
          Roll-outs
        </LinkButton>
      }
    >
      <ListView
        list={approvals}
        caption="Versions that await approval"
        noun="version"
        searchHint="Plugin, publisher or extension point"
        empty={
          <EmptyState title="Nothing to review">
            <p>
              New versions appear here if their <Link to={`/apps/${app.id}/extension-points`}>extension point</Link>’s
              rules require the team’s approval.
            </p>
          </EmptyState>
        }
      >
        {(rows) => (
          <ol class="approvals">
            {rows.map((approval) => (
              <Waiting
                key={approval.version.id}
                app={app}
                approval={approval}
                onAsk={setAsked}
                onChanged={approvals.page.reload}
              />
            ))}
          </ol>
        )}
      </ListView>
      <HeldBackPlugins appId={app.id} />
      {asked === undefined ? null : (
        <VersionDialog
          action={asked.action}
          name={asked.approval.name}
          version={asked.approval.version}
          apiPath={apiPathOf(asked.approval)}
          guests={undefined}
          isPublishedByOther
          extensionPointId={asked.approval.extensionPoint.id}
          onDone={() => {
            const { id } = asked.approval.version;
            keepFocus();
            approvals.page.update(({ objects, total = objects.length, ...others }) => ({
              ...others,
              objects: objects.filter(({ version }) => version.id !== id),
              total: total - 1,
            }));
            approvals.page.reload();
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

function Waiting(props: {
  readonly app: App;
  readonly approval: Approval;
  readonly onAsk: (asked: Asked) => void;
  readonly onChanged: () => void;
}) {
  const { app, approval, onAsk } = props;
  const { pluginId, extensionPoint, user, name, guests, version } = approval;
  const { number, semver, note, size, contentAddress, createdAt } = version;
  const versionPath = `${apiPathOf(approval)}/versions/${number}`;
  const of = `version ${number} of ${name}`;
  return (
    <li class="approval">
      <h3>
        <Link to={teamPluginPath(app.id, pluginId)}>
          <code>{name}</code>
        </Link>{' '}
        version {number}
        {semver === null ? null : <span class="soft"> · {semver}</span>}{' '}
        {version.verdict === 'none_configured' ? null : <VerdictBadge version={version} />}{' '}
        <ProvenanceBadge version={version} />
      </h3>
      <p class="soft">
        Published by {user.name} <Time at={createdAt} /> for{' '}
        <Link to={`/apps/${app.id}/extension-points/${extensionPoint.id}`}>{extensionPoint.name}</Link>
        {guests.length === 0 ? null : `, under ${guestWords(approval)}`}.
      </p>
      {note === null ? null : <p class="approval-note">{note}</p>}
      <SimilarNames appId={app.id} plugins={approval.similarPlugins} />
      <p class="approval-facts soft small">
        <span>{byteSize(size)}</span>
        <ContentAddressView address={contentAddress} />
      </p>
      {version.verdict === 'none_configured' ? null : (
        <>
          <VersionTestDetails
            versionPath={versionPath}
            version={version}
            of={of}
            fileName={`${name}-${number}`}
            mayRun={mayManage(app.role)}
            isOpen={false}
            onChanged={props.onChanged}
          />
          <ComparisonDetails versionPath={versionPath} of={of} />
        </>
      )}
      <ProvenanceDetails versionPath={versionPath} of={of} fileName={`${name}-${number}`} />
      <VersionDiffDetails versionPath={versionPath} of={of} />
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
        <TraceLink
          name={`${name}-${number}.wasm`}
          of={`version ${number} of ${name}`}
          contentAddress={contentAddress}
        />
      </div>
    </li>
  );
}

/** The guests under which the version was published: "customers/globex and 2 more". */
function guestWords({ guests, version: { guestIds, hasMoreGuests } }: Approval): string {
  const more = guestIds.length - guests.length;
  const others = more === 0 ? [] : [`${hasMoreGuests ? 'more than ' : ''}${more} more`];
  return new Intl.ListFormat('en').format([...guests.map(({ guestKey }) => guestKey), ...others]);
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
      {words}…
    </Button>
  );
}

import type { App, BlockedPublisher, MassYank, PublishedVersion } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { counted } from '../../components/count.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { TextField } from '../../components/field.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { ReasonDialog } from '../../components/reason-dialog.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import { useList } from '../../state/use-list.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { stateBadges, stateWords } from '../plugin/plugin-words.ts';
import { AppFrame } from './app-frame.tsx';
import { mayManage, useApp } from './use-app.ts';

/** Withdraws everything that a stolen credential or a publisher published, and lists the blocked publishers. */
export function WithdrawPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Withdraw">
      {(data) => (
        <>
          {mayManage(data.role) ? <Withdraw app={data} /> : null}
          <BlockedPublishers app={data} />
        </>
      )}
    </AppFrame>
  );
}

interface Selection {
  readonly credentialId?: string;
  readonly trustRuleId?: string;
  readonly userId?: string;
  readonly since?: string;
}

/** What an id selects: of a token or session, a rule of trusted publishing, or a user. */
function selectionOf(id: string, since: string): Selection {
  const from = since === '' ? {} : { since: new Date(since).toISOString() };
  if (id.startsWith('usr_')) return { userId: id, ...from };
  return { ...(id.startsWith('tru_') ? { trustRuleId: id } : { credentialId: id }), ...from };
}

function Withdraw({ app }: { readonly app: App }) {
  const { session, toasts } = useServices();
  const [id, setId] = useState('');
  const [since, setSince] = useState('');
  const [planned, setPlanned] = useState<{ readonly selection: Selection; readonly result: MassYank }>();
  const [isAsked, setAsked] = useState(false);
  const path = `/api/v1/apps/${app.id}/published-versions/yank`;
  const form = useSubmit(async () => {
    const selection = selectionOf(id.trim(), since);
    const json = { ...selection, reason: 'Not given yet.' };
    setPlanned({ selection, result: await session.api.post<MassYank>(`${path}?dryRun=true`, json) });
  }, ['credentialId', 'trustRuleId', 'userId']);
  const yank = async (reason: string): Promise<void> => {
    const done = await session.api.post<MassYank>(path, { ...planned?.selection, reason });
    setAsked(false);
    setPlanned(undefined);
    toasts.show(`Withdrew ${summary(done)}.`);
  };
  return (
    <Section
      title="Withdraw what a credential published"
      intro="If a token or an account was stolen, withdraw everything that it published here, in one step. The audit trail has the ids."
    >
      <form class="stack" onSubmit={form.submit}>
        <TextField
          label="Token, session, rule, or publisher"
          name="selection"
          value={id}
          onInput={setId}
          placeholder="tok_…, ses_…, tru_…, or usr_…"
          maxLength={100}
          error={form.fieldError('credentialId') ?? form.fieldError('trustRuleId') ?? form.fieldError('userId')}
          hint="Versions from before the upgrade have no credential. Select them by publisher."
        />
        <TextField
          label="Published since"
          name="since"
          type="datetime-local"
          value={since}
          onInput={setSince}
          isRequired={false}
        />
        <ErrorView error={form.error} />
        <div class="actions">
          <Button type="submit" kind="quiet" isBusy={form.isBusy} isDisabled={id.trim() === ''}>
            Show what would be withdrawn
          </Button>
        </div>
      </form>
      {planned === undefined ? null : <Planned app={app} result={planned.result} onWithdraw={() => setAsked(true)} />}
      {isAsked && planned !== undefined ? (
        <ReasonDialog
          title="Withdraw all of it?"
          action="Withdraw"
          hint="The publishers will see this."
          onConfirm={yank}
          onClose={() => setAsked(false)}
        >
          <p>This withdraws {summary(planned.result)}. Hosts stop receiving the versions at once.</p>
        </ReasonDialog>
      ) : null}
    </Section>
  );
}

function summary({ versionCount, pluginCount, revoked }: MassYank): string {
  const ofPlugins = `${counted(versionCount, 'version')} of ${counted(pluginCount, 'plugin')}`;
  return revoked.length === 0 ? ofPlugins : `${ofPlugins} and revokes ${counted(revoked.length, 'credential')}`;
}

function Planned(props: { readonly app: App; readonly result: MassYank; readonly onWithdraw: () => void }) {
  const { app, result, onWithdraw } = props;
  if (result.versionCount === 0 && result.revoked.length === 0) {
    return (
      <EmptyState title="Nothing to withdraw">
        <p>No version that hosts have, or may get, was published so.</p>
      </EmptyState>
    );
  }
  return (
    <>
      <Table<PublishedVersion>
        caption="Versions that would be withdrawn"
        rows={result.versions}
        rowKey={({ version }) => version.id}
        columns={[
          {
            header: 'Plugin',
            cell: ({ pluginId, name, version }) => (
              <>
                <Link to={teamPluginPath(app.id, pluginId)}>{name}</Link> version {version.number}
              </>
            ),
          },
          {
            header: 'State',
            cell: ({ version }) => <Badge kind={stateBadges[version.state]}>{stateWords[version.state]}</Badge>,
          },
          { header: 'Published by', cell: ({ user }) => user.name },
          { header: 'Published', cell: ({ version }) => <Time at={version.createdAt} /> },
        ]}
      />
      {result.versionCount > result.versions.length ? (
        <p class="soft">
          The first {counted(result.versions.length, 'version')} of {result.versionCount}.
        </p>
      ) : null}
      <div class="actions">
        <Button kind="danger" onClick={onWithdraw}>
          Withdraw {counted(result.versionCount, 'version')}…
        </Button>
      </div>
    </>
  );
}

function BlockedPublishers({ app }: { readonly app: App }) {
  const { session, toasts } = useServices();
  const blocked = useList<BlockedPublisher>(`/api/v1/apps/${app.id}/blocked-publishers`);
  const [asked, setAsked] = useState<BlockedPublisher>();
  const unblock = async ({ user }: BlockedPublisher): Promise<void> => {
    await session.api.delete(`/api/v1/apps/${app.id}/publishers/${user.id}/block`);
    setAsked(undefined);
    blocked.page.reload();
    toasts.show(`${user.name} unblocked.`);
  };
  return (
    <Section title="Blocked publishers" intro="Block a publisher on the page of one of their plugins.">
      <DataTable
        list={blocked}
        caption="Blocked publishers"
        noun="publisher"
        empty={<EmptyState title="No publisher is blocked" />}
        rowKey={({ user }) => user.id}
        columns={[
          { header: 'Publisher', cell: ({ user }) => user.name },
          { header: 'Reason', cell: ({ reason }) => reason },
          { header: 'Blocked', cell: ({ blockedAt }) => <Time at={blockedAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (one) =>
              mayManage(app.role) ? (
                <Button kind="quiet" isSmall label={`Unblock ${one.user.name}`} onClick={() => setAsked(one)}>
                  Unblock…
                </Button>
              ) : null,
          },
        ]}
      />
      {asked === undefined ? null : (
        <ConfirmDialog
          title={`Unblock ${asked.user.name}?`}
          action="Unblock publisher"
          onConfirm={() => unblock(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>Hosts get the publisher’s plugins again, except plugins that are blocked themselves.</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

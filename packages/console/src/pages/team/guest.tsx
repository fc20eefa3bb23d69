import type { App, Guest, Invitation } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { Button } from '../../components/button.tsx';
import { CopyText } from '../../components/copy-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { DeleteSection } from '../../components/delete-section.tsx';
import { Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { UsageSection } from '../../components/usage/usage-section.tsx';
import { useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { useList } from '../../state/use-list.ts';
import { AppPageFrame } from './app-frame.tsx';
import { BoundPlugins } from './bound-plugins.tsx';
import { GuestTextsSection } from './guest-texts.tsx';
import { InvitationBadge } from './invitation-badge.tsx';
import { InvitationNote } from './invitation-note.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { RenewButton } from './renew-button.tsx';
import { RevokeInvitationDialog } from './revoke-invitation-dialog.tsx';
import { mayManage, useApp } from './use-app.ts';

type GuestUser = Guest['users'][number];

/** A guest: who holds it, how its invitations stand, and which plugins it has. */
export function GuestPage() {
  const { session } = useServices();
  const { appId, app } = useApp();
  const { guestId = '' } = useRoute().params;
  const path = `/api/v1/apps/${encodeURIComponent(appId)}/guests/${encodeURIComponent(guestId)}`;
  const guest = useCachedData(path, (signal) => session.api.get<Guest>(path, { signal }));
  return (
    <AppPageFrame
      app={app}
      part={{ label: 'Guests', to: `/apps/${appId}/guests` }}
      kind="Guest"
      thing={guest}
      titleOf={({ guestKey }) => guestKey}
    >
      {(data, appData) => (
        <>
          <dl class="facts">
            <div>
              <dt>Guest key</dt>
              <dd>
                <CopyText text={data.guestKey} what="the guest key" />
              </dd>
            </div>
            <div>
              <dt>Label</dt>
              <dd>{data.label ?? <span class="soft">none</span>}</dd>
            </div>
            {data.ring == null ? null : (
              <div>
                <dt>Ring</dt>
                <dd>
                  <code>{data.ring}</code>
                </dd>
              </div>
            )}
            <div>
              <dt>Guest id</dt>
              <dd>
                <code>{data.id}</code>
              </dd>
            </div>
            <div>
              <dt>Created</dt>
              <dd>
                <Time at={data.createdAt} />
              </dd>
            </div>
          </dl>
          <Users app={appData} guest={data} onChanged={guest.reload} />
          <Invitations app={appData} guest={data} />
          <BoundPlugins appId={appId} guest={data} />
          <UsageSection apiPath={path} of={{ kind: 'guest', appId }} />
          {mayManage(appData.role) ? (
            <GuestTextsSection
              key={`${data.label} ${data.note} ${data.ring}`}
              apiPath={path}
              guest={data}
              onSaved={(saved) => guest.update(() => saved)}
            />
          ) : (
            <Section title="Note">
              <p class={data.note === null ? 'soft' : 'guest-note'}>{data.note ?? 'No note'}</p>
            </Section>
          )}
          {mayManage(appData.role) ? <RemoveGuest appId={appId} guest={data} /> : null}
        </>
      )}
    </AppPageFrame>
  );
}

interface PartProps {
  readonly app: App;
  readonly guest: Guest;
  readonly onChanged: () => void;
}

function Users({ app, guest, onChanged }: PartProps) {
  const [leaving, setLeaving] = useState<GuestUser>();
  return (
    <Section title="Users" intro="People who accepted an invitation to this guest. Each publishes their own plugins.">
      {guest.users.length === 0 ? (
        <p class="soft">No users yet. A user appears here after accepting an invitation.</p>
      ) : (
        <Table
          caption="Users of the guest"
          rows={guest.users}
          rowKey={({ userId }) => userId}
          columns={[
            { header: 'Name', cell: ({ name }) => name },
            { header: 'User id', cell: ({ userId }) => <code class="small">{userId}</code> },
            { header: 'Accepted', cell: ({ acceptedAt }) => <Time at={acceptedAt} /> },
            {
              header: 'Actions',
              isActions: true,
              cell: (user) =>
                mayManage(app.role) ? (
                  <Button
                    kind="quiet"
                    isSmall
                    label={`Remove ${user.name} from this guest`}
                    onClick={() => setLeaving(user)}
                  >
                    Remove…
                  </Button>
                ) : null,
            },
          ]}
        />
      )}
      {leaving === undefined ? null : (
        <DeleteDialog
          title={`Remove ${leaving.name} from this guest?`}
          action="Remove the user"
          onClose={() => setLeaving(undefined)}
          apiPath={`/api/v1/apps/${app.id}/guests/${guest.id}/users/${leaving.userId}`}
          done="User removed from the guest."
          onDone={onChanged}
        >
          <p>
            The plugins that they published stop being served under <code>{guest.guestKey}</code> at once. Their
            account, and what they do elsewhere, stay as they are.
          </p>
        </DeleteDialog>
      )}
    </Section>
  );
}

function Invitations({ app, guest }: Pick<PartProps, 'app' | 'guest'>) {
  const [isInviting, setInviting] = useState(false);
  const [revoked, setRevoked] = useState<Invitation>();
  const invitations = useList<Invitation>(`/api/v1/apps/${app.id}/invitations`, {
    prefix: 'invitations-',
    fixed: { guestId: guest.id },
    sort: '-createdAt',
    limit: 10,
  });
  const mayInvite = mayManage(app.role);
  return (
    <Section
      title="Invitations"
      actions={
        mayInvite ? (
          <Button kind="quiet" isSmall onClick={() => setInviting(true)}>
            New invitation
          </Button>
        ) : undefined
      }
    >
      <DataTable
        list={invitations}
        caption="Invitations to the guest"
        noun="invitation"
        empty={<p class="soft">No invitations</p>}
        rowKey={({ id }) => id}
        columns={[
          { header: 'For', cell: (invitation) => <InvitationNote invitation={invitation} /> },
          { header: 'Created', sort: 'createdAt', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            header: 'State',
            cell: ({ status, settledAt, expiresAt }) => (
              <>
                <InvitationBadge status={status} />{' '}
                <span class="soft small">
                  {status === 'pending' ? 'expires ' : ''}
                  <Time at={settledAt ?? expiresAt} />
                </span>
              </>
            ),
          },
          {
            header: 'Actions',
            isActions: true,
            cell: (invitation) =>
              mayInvite && (invitation.status === 'pending' || invitation.status === 'expired') ? (
                <span class="row-actions">
                  <RenewButton
                    app={app}
                    invitationId={invitation.id}
                    whom={invitation.name ?? invitation.email ?? guest.guestKey}
                    email={invitation.email}
                    onRenewed={invitations.page.reload}
                  />
                  <Button
                    kind="quiet"
                    isSmall
                    label={`Revoke the invitation for ${invitation.name ?? invitation.email ?? guest.guestKey}`}
                    onClick={() => setRevoked(invitation)}
                  >
                    Revoke…
                  </Button>
                </span>
              ) : null,
          },
        ]}
      />
      {isInviting ? (
        <InviteDialog
          app={app}
          guestKey={guest.guestKey}
          onInvited={invitations.page.reload}
          onClose={() => setInviting(false)}
        />
      ) : null}
      {revoked === undefined ? null : (
        <RevokeInvitationDialog
          appId={app.id}
          invitationId={revoked.id}
          onDone={invitations.page.reload}
          onClose={() => setRevoked(undefined)}
        />
      )}
    </Section>
  );
}

function RemoveGuest({ appId, guest }: { readonly appId: string; readonly guest: Guest }) {
  return (
    <DeleteSection
      title="Remove the guest"
      intro="Its invitations stop working, and its plugins stop being served under its key. The users’ accounts stay."
      apiPath={`/api/v1/apps/${appId}/guests/${guest.id}`}
      isUsedByHosts
      next={`/apps/${appId}/guests`}
      done="Guest removed."
    >
      <p>
        Hosts get no plugins for <code>{guest.guestKey}</code> from now on. {usersInWords(guest.users.length)} can no
        longer publish for it.
      </p>
    </DeleteSection>
  );
}

function usersInWords(count: number): string {
  if (count === 0) return 'The people whom you invited';
  return count === 1 ? 'Its user' : `Its ${count} users`;
}

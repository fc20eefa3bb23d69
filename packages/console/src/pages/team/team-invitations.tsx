import type { App, MemberInvitation } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import { newestFirst } from './guest-data.ts';
import { InvitationBadge } from './invitation-badge.tsx';
import { mayOwn } from './use-app.ts';

/** The open invitations to the team, and those that expired. */
export function TeamInvitations(props: {
  readonly app: App;
  readonly invitations: readonly MemberInvitation[];
  readonly onChanged: () => void;
}) {
  const { app, invitations, onChanged } = props;
  const { session, toasts } = useServices();
  const [revoked, setRevoked] = useState<MemberInvitation>();
  const open = newestFirst(invitations.filter(({ status }) => status === 'pending' || status === 'expired'));
  if (open.length === 0) return null;
  return (
    <Section title="Invitations">
      <DataTable
        caption="Invitations to the team"
        keptAs={`team invitations ${app.id}`}
        rows={open}
        rowKey={({ id }) => id}
        searchHint="Note, role or inviter"
        searchText={({ name, email, role, invitedBy }) => [name ?? '', email ?? '', role, invitedBy.name].join('\n')}
        columns={[
          { header: 'For', cell: (invitation) => <For invitation={invitation} /> },
          { header: 'Role', cell: ({ role }) => role },
          { header: 'Status', cell: ({ status }) => <InvitationBadge status={status} /> },
          { header: 'Invited by', cell: ({ invitedBy }) => invitedBy.name },
          { header: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (invitation) =>
              mayOwn(app.role) ? (
                <Button
                  kind="quiet"
                  isSmall
                  label={`Revoke the invitation for ${invitation.name ?? invitation.email ?? `a new ${invitation.role}`}`}
                  onClick={() => setRevoked(invitation)}
                >
                  Revoke
                </Button>
              ) : null,
          },
        ]}
      />
      {revoked === undefined ? null : (
        <ConfirmDialog
          title="Revoke the invitation?"
          action="Revoke it"
          onClose={() => setRevoked(undefined)}
          onConfirm={async () => {
            await session.api.delete(`/api/v1/apps/${app.id}/invitations/${revoked.id}`);
            setRevoked(undefined);
            toasts.show('The link does not work any more.');
            onChanged();
          }}
        >
          <p>Its link stops working at once. You can invite again at any time.</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

function For({ invitation: { name, email } }: { readonly invitation: MemberInvitation }) {
  if (name === null && email === null) return <span class="soft">nobody in particular</span>;
  return <>{[name, email].filter((note) => note !== null).join(', ')}</>;
}

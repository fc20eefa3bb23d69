import type { App, MemberInvitation } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import type { PagedList } from '../../state/use-list.ts';
import { InvitationBadge } from './invitation-badge.tsx';
import { InvitationNote } from './invitation-note.tsx';
import { RenewButton } from './renew-button.tsx';
import { RevokeInvitationDialog } from './revoke-invitation-dialog.tsx';
import { mayOwn } from './use-app.ts';

const nameOf = ({ name, email, role }: MemberInvitation): string => name ?? email ?? `a new ${role}`;

/** The open invitations to the team, and those that expired. */
export function TeamInvitations(props: { readonly app: App; readonly invitations: PagedList<MemberInvitation> }) {
  const { app, invitations } = props;
  const [revoked, setRevoked] = useState<MemberInvitation>();
  const { page } = invitations;
  if (page.status !== 'ready' || invitations.isEmpty) return null;
  return (
    <Section title="Invitations">
      <DataTable
        caption="Invitations to the team"
        list={invitations}
        noun="invitation"
        empty={null}
        rowKey={({ id }) => id}
        columns={[
          { header: 'For', cell: (invitation) => <InvitationNote invitation={invitation} /> },
          { header: 'Role', cell: ({ role }) => role },
          { header: 'State', cell: ({ status }) => <InvitationBadge status={status} /> },
          { header: 'Invited by', cell: ({ invitedBy }) => invitedBy.name },
          { header: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (invitation) =>
              mayOwn(app.role) ? (
                <span class="row-actions">
                  <RenewButton
                    app={app}
                    invitationId={invitation.id}
                    whom={nameOf(invitation)}
                    email={invitation.email}
                    onRenewed={page.reload}
                  />
                  <Button
                    kind="quiet"
                    isSmall
                    label={`Revoke the invitation for ${nameOf(invitation)}`}
                    onClick={() => setRevoked(invitation)}
                  >
                    Revoke…
                  </Button>
                </span>
              ) : null,
          },
        ]}
      />
      {revoked === undefined ? null : (
        <RevokeInvitationDialog
          appId={app.id}
          invitationId={revoked.id}
          onDone={page.reload}
          onClose={() => setRevoked(undefined)}
        />
      )}
    </Section>
  );
}

import type { App, Guest } from '@tenon/protocol';
import { Button, LinkButton } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { UsageCell } from '../../components/usage/usage-cell.tsx';
import { useLinkedDialog } from '../../state/use-linked-dialog.ts';
import { useList } from '../../state/use-list.ts';
import { useUsage } from '../../state/use-usage.ts';
import { AppFrame } from './app-frame.tsx';
import { InvitationBadge } from './invitation-badge.tsx';
import { InvitationNote } from './invitation-note.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { mayManage, useApp } from './use-app.ts';

/** An application's guests, by guest key. */
export function GuestsPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Guests">
      {(data) => <Guests app={data} />}
    </AppFrame>
  );
}

function Guests({ app }: { readonly app: App }) {
  const guests = useList<Guest>(`/api/v1/apps/${app.id}/guests`, { filters: ['state'], sort: 'guestKey' });
  const { page } = guests;
  const usage = useUsage(app.id, page.status === 'ready' ? page.data.objects.map(({ id }) => id) : []);
  const inviting = useLinkedDialog('invite', 'guest');
  const invite = mayManage(app.role) ? (
    <span class="row-actions">
      <LinkButton kind="quiet" to={`/apps/${app.id}/guests/import`}>
        Invite from a file
      </LinkButton>
      <Button onClick={inviting.open}>Invite a guest</Button>
    </span>
  ) : undefined;
  return (
    <Section
      title="Guests"
      intro={
        guests.isEmpty ? undefined : (
          <>
            You can renew and revoke <Link to={`/apps/${app.id}/invitations?status=pending`}>pending invitations</Link>{' '}
            together.
          </>
        )
      }
      actions={guests.isEmpty ? undefined : invite}
    >
      <DataTable
        list={guests}
        caption="Guests"
        noun="guest"
        searchHint="Guest key, label, note, user or invitation"
        filters={[{ name: 'state', label: 'Any state', options: states }]}
        empty={
          <EmptyState title="No guests yet" action={invite}>
            <p>
              A guest writes plugins for {app.name} under a guest key that you choose, such as a customer’s id. You get
              a link to pass on. The person who opens it can accept.
            </p>
          </EmptyState>
        }
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Guest key',
            sort: 'guestKey',
            cell: ({ id, guestKey }) => (
              <Link to={`/apps/${app.id}/guests/${id}`}>
                <code>{guestKey}</code>
              </Link>
            ),
          },
          { header: 'Label', cell: ({ label }) => label ?? <span class="soft">–</span> },
          { header: 'Users', cell: (guest) => <Users guest={guest} /> },
          { header: 'Latest invitation', cell: ({ latestInvitation }) => <LatestInvitation of={latestInvitation} /> },
          {
            header: 'Requests, 30 days',
            cell: ({ id }) => (usage.status === 'ready' ? <UsageCell series={usage.data.get(id)} /> : null),
          },
          { header: 'Created', sort: 'createdAt', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
      {inviting.isOpen && mayManage(app.role) ? (
        <InviteDialog app={app} onInvited={guests.page.reload} onClose={inviting.close} />
      ) : null}
    </Section>
  );
}

const states = [
  { value: 'active', label: 'With users' },
  { value: 'invited', label: 'Invited, no users' },
  { value: 'inactive', label: 'No users, no open invitation' },
];

const shownNames = 3;

function Users({ guest: { users } }: { readonly guest: Guest }) {
  if (users.length === 0) return <span class="soft">no users yet</span>;
  const more = users.length - shownNames;
  return (
    <>
      {users
        .slice(0, shownNames)
        .map(({ name }) => name)
        .join(', ')}
      {more > 0 ? <span class="soft"> and {more} more</span> : null}
    </>
  );
}

function LatestInvitation({ of }: { readonly of: Guest['latestInvitation'] }) {
  if (of === null) return <span class="soft">none</span>;
  return (
    <span class="badges">
      <InvitationBadge status={of.status} />
      {of.name === null && of.email === null ? null : <InvitationNote invitation={of} />}
    </span>
  );
}

import type { App } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { AppFrame } from './app-frame.tsx';
import { fetchGuests, type InvitedGuest } from './guest-data.ts';
import { InvitationBadge } from './invitation-badge.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { mayManage, useApp } from './use-app.ts';

/** Who writes plugins for an application, by guest key. */
export function GuestsPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Guests">
      {(data) => <Guests app={data} />}
    </AppFrame>
  );
}

function Guests({ app }: { readonly app: App }) {
  const api = useApi();
  const path = `/api/v1/apps/${app.id}/guests`;
  const guests = useCachedData(path, (signal) => fetchGuests(api, app.id, signal));
  const [isInviting, setInviting] = useState(false);
  const invite = mayManage(app.role) ? <Button onClick={() => setInviting(true)}>Invite a guest</Button> : undefined;
  const isEmpty = guests.status === 'ready' && guests.data.length === 0;
  return (
    <Section title="Guests" actions={isEmpty ? undefined : invite}>
      <Loaded of={guests}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState title="No guests yet" action={invite}>
              <p>
                A guest is somebody who writes plugins for {app.name}, under a guest key that you choose: a customer’s
                id in your program, for example. You get a link to pass on; who opens it can accept.
              </p>
            </EmptyState>
          ) : (
            <GuestTable app={app} guests={list} />
          )
        }
      </Loaded>
      {isInviting ? (
        <InviteDialog
          app={app}
          isTaken={(key) => guests.status === 'ready' && guests.data.some(({ guestKey }) => guestKey === key)}
          onInvited={guests.reload}
          onClose={() => setInviting(false)}
        />
      ) : null}
    </Section>
  );
}

function GuestTable({ app, guests }: { readonly app: App; readonly guests: readonly InvitedGuest[] }) {
  return (
    <DataTable
      caption="Guests"
      keptAs={`guests ${app.id}`}
      rows={guests}
      rowKey={({ id }) => id}
      searchHint="Guest key, user or note"
      searchText={({ guestKey, users, invitations }) =>
        [
          guestKey,
          ...users.flatMap(({ name, userId }) => [name, userId]),
          ...invitations.flatMap(({ name, email, status }) => [name ?? '', email ?? '', status]),
        ].join('\n')
      }
      columns={[
        {
          header: 'Guest key',
          cell: ({ id, guestKey }) => (
            <Link to={`/apps/${app.id}/guests/${id}`}>
              <code>{guestKey}</code>
            </Link>
          ),
        },
        { header: 'Users', cell: ({ users }) => <UserNames names={users.map(({ name }) => name)} /> },
        { header: 'Invitations', cell: ({ invitations }) => <InvitationSummary invitations={invitations} /> },
        { header: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
    />
  );
}

const shownNames = 3;

function UserNames({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <span class="soft">nobody yet</span>;
  const more = names.length - shownNames;
  return (
    <>
      {names.slice(0, shownNames).join(', ')}
      {more > 0 ? <span class="soft"> and {more} more</span> : null}
    </>
  );
}

/** What there is to know at a glance: what is still open, else how the newest one ended. */
function InvitationSummary({ invitations }: { readonly invitations: InvitedGuest['invitations'] }) {
  const pending = invitations.filter(({ status }) => status === 'pending').length;
  const [newest] = invitations;
  if (newest === undefined) return <span class="soft">none</span>;
  return (
    <span>
      <InvitationBadge status={pending > 0 ? 'pending' : newest.status} />
      {invitations.length > 1 ? (
        <span class="soft small">
          {' '}
          {pending > 1 ? `${pending} pending of ` : 'of '}
          {invitations.length}
        </span>
      ) : null}
    </span>
  );
}

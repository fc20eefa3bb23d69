import type { App, ListPage, Member, MemberInvitation, MemberRole } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useAccount, useServices } from '../../state/services.ts';
import { useList } from '../../state/use-list.ts';
import { AppFrame } from './app-frame.tsx';
import { MemberDialog } from './member-dialog.tsx';
import { RemoveMemberDialog } from './remove-member-dialog.tsx';
import { TeamInvitations } from './team-invitations.tsx';
import { TeamInviteDialog } from './team-invite-dialog.tsx';
import { asRole, mayOwn, roleWords, useApp } from './use-app.ts';

/** The people of an application, and what each may do. */
export function MembersPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Team">
      {(data) => <Members app={data} onOwnRole={app.reload} />}
    </AppFrame>
  );
}

type Asked = { readonly kind: 'invite' } | { readonly kind: 'change' | 'remove'; readonly member: Member };

function Members({ app, onOwnRole }: { readonly app: App; readonly onOwnRole: () => void }) {
  const { session, toasts } = useServices();
  const account = useAccount();
  const { route } = useLocation();
  const path = `/api/v1/apps/${app.id}/members`;
  const members = useList<Member>(path, { sort: 'role' });
  const invitations = useList<MemberInvitation>(`${path}/invitations`, {
    prefix: 'invitations-',
    fixed: { isSettled: 'false' },
    sort: '-createdAt',
  });
  const [asked, setAsked] = useState<Asked>();
  const close = (): void => setAsked(undefined);
  const mayChange = mayOwn(app.role);
  const isSoleOwner = mayChange && members.page.status === 'ready' && hasOneOwner(members.page.data);

  const put = async (userId: string, role: MemberRole): Promise<void> => {
    const member = await session.api.put<Member>(`${path}/${encodeURIComponent(userId)}`, { role });
    close();
    members.page.reload();
    toasts.show(`${member.name} is ${asRole(member.role)} now.`);
    invitations.page.reload();
    if (member.userId === account.id) onOwnRole();
  };
  const remove = async (member: Member, withGuests: boolean): Promise<void> => {
    if (member.userId === account.id) {
      await session.api.delete(`/api/v1/apps/${app.id}/membership`);
      close();
      route(href('/'), true);
      toasts.show('You have left the team.');
      return;
    }
    await session.api.delete(`${path}/${member.userId}${withGuests ? '?guests=remove' : ''}`);
    close();
    invitations.page.reload();
    members.page.reload();
    toasts.show(`${member.name} is not in the team any more.`);
  };

  return (
    <>
      <Section
        title="Team"
        actions={
          mayChange ? <Button onClick={() => setAsked({ kind: 'invite' })}>Invite to the team</Button> : undefined
        }
      >
        <DataTable
          list={members}
          caption="Members of the team"
          noun="member"
          searchHint="Name or user id"
          empty={null}
          rowKey={({ userId }) => userId}
          columns={[
            {
              header: 'Name',
              sort: 'name',
              cell: ({ name, userId }) => (
                <>
                  {name} {userId === account.id ? <Badge kind="good">you</Badge> : null}
                </>
              ),
            },
            {
              header: 'Role',
              sort: 'role',
              cell: ({ role }) => <span title={roleWords[role]}>{role}</span>,
            },
            { header: 'User id', cell: ({ userId }) => <code class="small">{userId}</code> },
            { header: 'Joined', cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              header: 'Actions',
              isActions: true,
              cell: (member) =>
                mayChange || member.userId === account.id ? (
                  <span class="row-actions">
                    {mayChange ? (
                      <Button
                        kind="quiet"
                        isSmall
                        label={`Change role of ${member.name}`}
                        onClick={() => setAsked({ kind: 'change', member })}
                      >
                        Change role…
                      </Button>
                    ) : null}
                    <Button
                      kind="quiet"
                      isSmall
                      label={member.userId === account.id ? 'Leave the team' : `Remove ${member.name} from the team`}
                      isDisabled={isSoleOwner && member.userId === account.id}
                      describedBy={isSoleOwner && member.userId === account.id ? soleOwnerHint : undefined}
                      onClick={() => setAsked({ kind: 'remove', member })}
                    >
                      {member.userId === account.id ? 'Leave…' : 'Remove…'}
                    </Button>
                  </span>
                ) : null,
            },
          ]}
        />
        {isSoleOwner ? (
          <p class="soft small" id={soleOwnerHint}>
            You are the only owner. To leave the team, make another member an owner first.
          </p>
        ) : null}
        {mayChange ? (
          <HowToInvite isAlone={members.page.status === 'ready' && members.page.data.total === 1} />
        ) : (
          <p class="soft small">Owners change the team.</p>
        )}
        {asked?.kind === 'invite' ? (
          <TeamInviteDialog app={app} onInvited={invitations.page.reload} onClose={close} />
        ) : null}
        {asked?.kind === 'change' ? (
          <MemberDialog member={asked.member} onChange={(role) => put(asked.member.userId, role)} onClose={close} />
        ) : null}
        {asked?.kind === 'remove' ? (
          <RemoveMemberDialog
            appId={app.id}
            member={asked.member}
            isSelf={asked.member.userId === account.id}
            onConfirm={(withGuests) => remove(asked.member, withGuests)}
            onClose={close}
          />
        ) : null}
      </Section>
      <TeamInvitations app={app} invitations={invitations} />
    </>
  );
}

const soleOwnerHint = 'sole-owner-hint';

/** Whether a page has all members, of whom one is an owner. */
function hasOneOwner({ objects, total }: ListPage<Member>): boolean {
  return objects.length === total && objects.filter(({ role }) => role === 'owner').length === 1;
}

function HowToInvite({ isAlone }: { readonly isAlone: boolean }) {
  return (
    <p class="soft small">
      {isAlone ? 'You are alone in the team. ' : ''}To add a member, invite them: you get a link to pass on, and the
      person joins by accepting.
    </p>
  );
}

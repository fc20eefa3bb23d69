import type { User } from '@tenon/protocol';
import { hasCode } from '../api/api-error.ts';
import { LinkButton } from '../components/button.tsx';
import { count } from '../components/count.ts';
import { DataTable } from '../components/data-table.tsx';
import { Link } from '../components/link.tsx';
import { OperatorsOnly } from '../components/operators-only.tsx';
import { Page } from '../components/page.tsx';
import { Time } from '../components/time.tsx';
import { useList } from '../state/use-list.ts';
import { UserBadges } from './users/user-badges.tsx';

/** The users of the server, for operators. */
export function UsersPage() {
  const users = useList<User>('/api/v1/users', { filters: ['state'], sort: '-createdAt' });
  if (users.page.status === 'failed' && hasCode(users.page.error, 'forbidden')) return <OperatorsOnly title="Users" />;
  return (
    <Page
      title="Users"
      intro="Everyone who has an account on this server."
      actions={
        <LinkButton kind="quiet" to="/quotas">
          Quotas
        </LinkButton>
      }
    >
      <DataTable
        list={users}
        caption="Users"
        noun="user"
        searchHint="Name, e-mail address or user id"
        filters={[{ name: 'state', label: 'All users', options: states }]}
        empty={null}
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Name',
            sort: 'name',
            cell: (user) => (
              <span class="badges">
                <Link to={`/users/${user.id}`}>{user.name}</Link> <UserBadges user={user} />
              </span>
            ),
          },
          { header: 'E-mail address', cell: ({ email }) => email ?? <span class="soft">none</span> },
          { header: 'Applications', cell: ({ appCount }) => count(appCount) },
          { header: 'Created', sort: 'createdAt', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { header: 'Last seen', sort: 'lastSeenAt', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
        ]}
      />
    </Page>
  );
}

const states = [
  { value: 'operator', label: 'Operators' },
  { value: 'suspended', label: 'Suspended' },
  { value: 'active', label: 'Not suspended' },
];

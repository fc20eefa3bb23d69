import type { UserDetails } from '@tenon/protocol';
import { useRoute } from 'preact-iso/router';
import { hasCode } from '../api/api-error.ts';
import { CopyText } from '../components/copy-button.tsx';
import { count, counted } from '../components/count.ts';
import { Link } from '../components/link.tsx';
import { Loaded } from '../components/loaded.tsx';
import { OperatorsOnly } from '../components/operators-only.tsx';
import { Page, Section } from '../components/page.tsx';
import { Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { useAccount, useServices } from '../state/services.ts';
import { useCachedData } from '../state/use-cached.ts';
import { NotFoundPage } from './not-found.tsx';
import { UserQuotasSection } from './quotas/user-quotas.tsx';
import { UserActions } from './users/user-actions.tsx';
import { UserBadges } from './users/user-badges.tsx';

const list = { label: 'Users', to: '/users' };

/** A user of the server, for operators. */
export function UserPage() {
  const { session } = useServices();
  const { userId = '' } = useRoute().params;
  const account = useAccount();
  const path = `/api/v1/users/${encodeURIComponent(userId)}`;
  const user = useCachedData(path, (signal) => session.api.get<UserDetails>(path, { signal }));
  if (user.status === 'failed' && hasCode(user.error, 'forbidden')) return <OperatorsOnly title="User" />;
  if (user.status === 'failed' && hasCode(user.error, 'not_found')) {
    return <NotFoundPage kind="User" crumbs={[list]} next={list} />;
  }
  const title = user.status === 'ready' ? user.data.name : 'User';
  return (
    <Page title={title} windowTitle={`${title} · Users`} crumbs={[list]}>
      <Loaded of={user} lines={4}>
        {(data) => (
          <>
            <Facts user={data} />
            <Applications user={data} />
            <UserQuotasSection userId={data.id} />
            {data.id === account.id ? (
              <Section title="Your account">
                <p>
                  Change or delete it on <Link to="/account">its own page</Link>. Another operator can suspend it, or
                  revoke your operator role.
                </p>
              </Section>
            ) : (
              <UserActions user={data} apiPath={path} onChanged={user.reload} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Facts({ user }: { readonly user: UserDetails }) {
  const { email, sessionCount, tokenCount, apiKeyCount, pluginCount } = user;
  const hasBadges = user.isOperator || user.suspendedAt !== null;
  return (
    <dl class="facts">
      {hasBadges ? (
        <div>
          <dt>State</dt>
          <dd>
            <span class="badges">
              <UserBadges user={user} />
            </span>
            {user.suspendedAt === null ? null : (
              <span class="soft small">
                {' '}
                <Time at={user.suspendedAt} />
              </span>
            )}
          </dd>
        </div>
      ) : null}
      <div>
        <dt>E-mail address</dt>
        <dd>{email ?? <span class="soft">none</span>}</dd>
      </div>
      <div>
        <dt>User id</dt>
        <dd>
          <CopyText text={user.id} what="the user id" />
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Time at={user.createdAt} />
        </dd>
      </div>
      <div>
        <dt>Last seen</dt>
        <dd>
          <Time at={user.lastSeenAt} />
        </dd>
      </div>
      <div>
        <dt>Credentials</dt>
        <dd>
          {counted(sessionCount, 'session')}, {counted(tokenCount, 'access token')}, {counted(apiKeyCount, 'API key')}
        </dd>
      </div>
      <div>
        <dt>Plugins</dt>
        <dd>{count(pluginCount)}</dd>
      </div>
    </dl>
  );
}

function Applications({ user: { apps, appCount } }: { readonly user: UserDetails }) {
  return (
    <Section title="Applications">
      {apps.length === 0 ? (
        <p class="soft">None</p>
      ) : (
        <Table
          caption="Applications of the user"
          rows={apps}
          rowKey={({ id }) => id}
          columns={[
            { header: 'Application', cell: ({ name }) => name },
            { header: 'Role', cell: ({ role }) => role },
            { header: 'Application id', cell: ({ id }) => <code class="small">{id}</code> },
          ]}
        />
      )}
      {appCount > apps.length ? <p class="soft small">And {count(appCount - apps.length)} more.</p> : null}
    </Section>
  );
}

import { auditActionsOf } from '@tenon/protocol/audit-actions';
import { Page, Section } from '../components/page.tsx';
import { filterSearch } from './audit/filter.ts';
import { Filters } from './audit/filters.tsx';
import { Trail } from './audit/trail.tsx';
import { useFilter } from './audit/use-filter.ts';

/** The audit trail of the user's account. */
export function AccountActivityPage() {
  const { filter, change, linkTo } = useFilter('/account/activity');
  const actions = [...new Set([...auditActionsOf('account'), ...auditActionsOf('app')])];
  return (
    <Page
      title="Activity"
      windowTitle="Activity of your account"
      crumbs={[{ label: 'Your account', to: '/account' }]}
      intro="What you did in any application, and what was done to your account. If you don’t recognise something, change your password."
    >
      <Section title="Events">
        <Filters filter={filter} actions={actions} onChange={change} />
        <Trail
          key={filterSearch(filter)}
          apiPath="/api/v1/me/audit"
          filter={filter}
          linkTo={linkTo}
          nothing="No matching events."
        />
      </Section>
    </Page>
  );
}

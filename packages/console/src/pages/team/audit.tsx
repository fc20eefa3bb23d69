import type { App, ListPage, Member } from '@tenon/protocol';
import { auditActionsOf } from '@tenon/protocol/audit-actions';
import { saveBlob } from '../../api/save-blob.ts';
import { Button } from '../../components/button.tsx';
import type { Option } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { useApi, useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { type AuditFilter, filterQuery, filterSearch } from '../audit/filter.ts';
import { Filters } from '../audit/filters.tsx';
import { Trail } from '../audit/trail.tsx';
import { useFilter } from '../audit/use-filter.ts';
import { AppFrame } from './app-frame.tsx';
import { mayOwn, useApp } from './use-app.ts';

/** Who did what in an application, for its owners. */
export function AuditPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Audit trail">
      {(data) =>
        mayOwn(data.role) ? (
          <AppTrail app={data} />
        ) : (
          <Section title="Audit trail">
            <Notice kind="warning" title="Only owners can see the audit trail">
              <p>It records who did what here, and from where.</p>
            </Notice>
          </Section>
        )
      }
    </AppFrame>
  );
}

function AppTrail({ app }: { readonly app: App }) {
  const apiPath = `/api/v1/apps/${app.id}/audit`;
  const { filter, change, linkTo } = useFilter(`/apps/${app.id}/audit`);
  const people = usePeople(app);
  return (
    <Section
      title="Audit trail"
      intro="Who changed what, newest first. Guests can’t see it."
      actions={
        <>
          <ExportButton app={app} apiPath={apiPath} filter={filter} format="csv" label="Export CSV" />
          <ExportButton app={app} apiPath={apiPath} filter={filter} format="ndjson" label="Export NDJSON" />
        </>
      }
    >
      <Filters filter={filter} actions={auditActionsOf('app')} people={people} onChange={change} />
      <Trail
        key={filterSearch(filter)}
        apiPath={apiPath}
        appId={app.id}
        filter={filter}
        linkTo={linkTo}
        nothing="No matching events."
      />
    </Section>
  );
}

/** The members of the team. Entries of other people link to their filter. */
function usePeople(app: App): readonly Option[] {
  const api = useApi();
  const path = `/api/v1/apps/${app.id}/members`;
  const query = { sort: 'name' };
  const members = useCachedData(`${path} by name`, (signal) => api.get<ListPage<Member>>(path, { query, signal }));
  if (members.status !== 'ready') return [];
  return members.data.objects.map(({ userId, name }) => ({ value: userId, label: name }));
}

/** Has all that the filter lets through saved as a file. */
function ExportButton(props: {
  readonly app: App;
  readonly apiPath: string;
  readonly filter: AuditFilter;
  readonly format: 'csv' | 'ndjson';
  readonly label: string;
}) {
  const { app, apiPath, filter, format, label } = props;
  const { session, toasts } = useServices();
  const { submit, isBusy } = useSubmit(async () => {
    try {
      const response = await session.api.send('GET', apiPath, {
        query: { ...filterQuery(filter), format },
        headers: { accept: '*/*' },
      });
      saveBlob(await response.blob(), `audit-${app.id}-${new Date().toISOString().slice(0, 10)}.${format}`);
    } catch (error) {
      toasts.show(error instanceof Error ? error.message : 'The export failed.', 'failed');
    }
  });
  return (
    <Button kind="quiet" isSmall isBusy={isBusy} onClick={submit}>
      {label}
    </Button>
  );
}

import type { App, AppAuditEntry, ListPage } from '@tenon/protocol';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { describeEntry } from '../audit/audit-text.ts';
import { Author, Event } from '../audit/sentence.tsx';

/** The newest events of an application's audit trail, for its owners. */
export function RecentActivity({ app }: { readonly app: App }) {
  const api = useApi();
  const path = `/api/v1/apps/${app.id}/audit`;
  const newest = useCachedData(`${path} newest`, (signal) =>
    api.get<ListPage<AppAuditEntry>>(path, { query: { limit: 8 }, signal }),
  );
  return (
    <Section title="Recent activity" actions={<Link to={`/apps/${app.id}/audit`}>All events</Link>}>
      <Loaded of={newest} lines={5}>
        {({ objects }) => (
          <ul class="activity">
            {objects.map((entry) => (
              <li key={entry.id}>
                <p>
                  <Author entry={entry} isOwn={false} /> <Event sentence={describeEntry(entry, app.id)} />
                </p>
                <span class="soft small">
                  <Time at={entry.at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { useSubmit } from '../../state/use-submit.ts';
import type { AuditEntry } from './audit-text.ts';
import { EntryView } from './entry.tsx';
import { type AuditFilter, filterQuery } from './filter.ts';
import './audit.css';

interface TrailPage {
  readonly objects: readonly AuditEntry[];
  readonly nextCursor?: string;
}

/** Entries per page. */
const pageSize = 50;

/** Audit events by day, newest first. Use a new `key` for another filter. */
export function Trail(props: {
  /** Where the trail is in the API. */
  readonly apiPath: string;
  readonly filter: AuditFilter;
  /** The application of the trail; `undefined` for the user's own trail. */
  readonly appId?: string;
  /** The text of an empty result. */
  readonly nothing: string;
  /** The path of this page with a changed filter. */
  readonly linkTo: (change: Partial<AuditFilter>) => string;
}) {
  const { apiPath, filter } = props;
  const api = useApi();
  const fetchPage = (signal?: AbortSignal, cursor?: string) =>
    api.get<TrailPage>(apiPath, { query: { ...filterQuery(filter), limit: pageSize, cursor }, signal });
  const first = useData((signal) => fetchPage(signal), []);
  const [more, setMore] = useState<readonly TrailPage[]>([]);
  const pages = first.status === 'ready' ? [first.data, ...more] : [];
  const cursor = pages.at(-1)?.nextCursor;
  const older = useSubmit(async () => {
    const page = await fetchPage(undefined, cursor);
    setMore((pagesNow) => [...pagesNow, page]);
  });
  return (
    <Loaded of={first} lines={6}>
      {() => {
        const entries = pages.flatMap(({ objects }) => objects);
        if (entries.length === 0) return <p class="soft">{props.nothing}</p>;
        return (
          <div class="audit">
            {[...Map.groupBy(entries, ({ at }) => dayFormat.format(new Date(at)))].map(([day, ofDay]) => (
              <section key={day} aria-label={day}>
                <h3>{day}</h3>
                <ul>
                  {ofDay.map((entry) => (
                    <EntryView key={entry.id} entry={entry} appId={props.appId} linkTo={props.linkTo} />
                  ))}
                </ul>
              </section>
            ))}
            <ErrorView error={older.error} />
            {cursor === undefined ? (
              <p class="soft small">End of the audit trail</p>
            ) : (
              <Button kind="quiet" isSmall isBusy={older.isBusy} onClick={older.submit}>
                Load older events
              </Button>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

const dayFormat = new Intl.DateTimeFormat('en', { dateStyle: 'full' });

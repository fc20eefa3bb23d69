import type { UsageReport } from '@tenon/protocol';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { count, counted } from '../count.ts';
import { Loaded } from '../loaded.tsx';
import { type Column, Table } from '../table.tsx';
import { Time } from '../time.tsx';
import { dayText } from './axis.ts';
import { DayChart } from './day-chart.tsx';
import './usage.css';
import { LoadedVersions, PluginVersions } from './version-usage.tsx';

/** Whose usage a section shows. */
export type Subject = { readonly kind: 'plugin' } | { readonly kind: 'guest'; readonly appId: string };

/** The charts of a section, their table, the versions, and the programs. */
export function UsageReportView({ path, of }: { readonly path: string; readonly of: Subject }) {
  const api = useApi();
  const report = useCachedData(path, (signal) => api.get<UsageReport>(path, { signal }));
  return <Loaded of={report}>{(data) => <Usage report={data} of={of} />}</Loaded>;
}

function Usage({ report, of }: { readonly report: UsageReport; readonly of: Subject }) {
  const { totals, lastUsedAt, versions, userAgents } = report;
  if (totals.listRequests === 0 && totals.contentFetches === 0) {
    return (
      <p class="soft">
        No requests in the last 30 days.
        {lastUsedAt === null ? null : (
          <>
            {' '}
            The last one was <Time at={lastUsedAt} />.
          </>
        )}
      </p>
    );
  }
  return (
    <div class="stack">
      <p>
        Last request <Time at={lastUsedAt} />
      </p>
      <Requests report={report} />
      {versions.length === 0 ? null : (
        <>
          <h3>Versions that hosts run</h3>
          {of.kind === 'plugin' ? (
            <PluginVersions versions={versions} />
          ) : (
            <LoadedVersions versions={versions} appId={of.appId} />
          )}
        </>
      )}
      {userAgents.length === 0 ? null : (
        <>
          <h3>Programs</h3>
          <Table
            caption="Programs that sent requests"
            columns={[
              { header: 'Program', cell: ({ userAgent }) => userAgent },
              { header: 'Requests', cell: ({ requests }) => count(requests) },
            ]}
            rows={userAgents}
            rowKey={({ userAgent }) => userAgent}
          />
        </>
      )}
    </div>
  );
}

type Counts = UsageReport['totals'];

function Requests({ report: { points, totals } }: { readonly report: UsageReport }) {
  const describe = (at: number | undefined): string => {
    const point = at === undefined ? undefined : points[at];
    if (point === undefined) return `Last 30 days: ${requestsInWords(totals)}`;
    return `${dayText(point.at)}${at === points.length - 1 ? ' (today, so far)' : ''}: ${requestsInWords(point)}`;
  };
  return (
    <>
      <DayChart
        days={points.map(({ at }) => at)}
        series={[
          { title: 'List requests', values: points.map(({ listRequests }) => listRequests) },
          { title: 'Content fetches', values: points.map(({ contentFetches }) => contentFetches) },
        ]}
        describe={describe}
      />
      <details>
        <summary>Show as a table</summary>
        <Table
          caption="Requests per day"
          columns={columnsFor(totals)}
          rows={points.toReversed()}
          rowKey={({ at }) => at}
        />
      </details>
    </>
  );
}

function columnsFor({ tokens }: Counts): readonly Column<UsageReport['points'][number]>[] {
  return [
    { header: 'Day (UTC)', cell: ({ at }) => dayText(at) },
    { header: 'List requests', cell: ({ listRequests }) => count(listRequests) },
    { header: 'Content fetches', cell: ({ contentFetches }) => count(contentFetches) },
    ...(tokens === null ? [] : [{ header: 'Tokens (about)', cell: ({ tokens }: Counts) => count(tokens ?? 0) }]),
  ];
}

function requestsInWords({ listRequests, contentFetches, tokens }: Counts): string {
  const lists = counted(listRequests, 'list request');
  const contents = counted(contentFetches, 'content fetch', 'content fetches');
  return `${lists}, ${contents}${tokens ? `, about ${counted(tokens, 'token')}` : ''}`;
}

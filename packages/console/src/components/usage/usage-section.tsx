import type { UsageReport } from '@tenon/protocol';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { count, counted } from '../count.ts';
import { Loaded } from '../loaded.tsx';
import { Section } from '../page.tsx';
import { Table } from '../table.tsx';
import { Time } from '../time.tsx';
import './usage.css';

/**
 * How hosts used a plugin or a guest in the last 30 days: a chart, its table, and the versions that hosts run.
 *
 * @param apiPath the path of the plugin or guest in the API
 */
export function UsageSection({ apiPath }: { readonly apiPath: string }) {
  const api = useApi();
  const path = `${apiPath}/usage`;
  const report = useCachedData(path, (signal) => api.get<UsageReport>(path, { signal }));
  return (
    <Section title="Usage" intro="What hosts requested in the last 30 days.">
      <Loaded of={report}>{(data) => <Usage report={data} />}</Loaded>
    </Section>
  );
}

const dayFormat = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });
const day = (at: string): string => dayFormat.format(new Date(at));

function Usage({ report }: { readonly report: UsageReport }) {
  const { totals, points, versions, lastUsedAt } = report;
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
  const words = `${counted(totals.listRequests, 'list request')} and ${counted(totals.contentFetches, 'content fetch', 'content fetches')}`;
  return (
    <div class="stack">
      <p>
        {words}, last <Time at={lastUsedAt} />
      </p>
      <Chart points={points} label={`${words} in 30 days`} />
      <details>
        <summary>Show as a table</summary>
        <Table
          caption="Requests per day"
          columns={[
            { header: 'Day (UTC)', cell: ({ at }) => day(at) },
            { header: 'List requests', cell: ({ listRequests }) => count(listRequests) },
            { header: 'Content fetches', cell: ({ contentFetches }) => count(contentFetches) },
            { header: 'Tokens', cell: ({ tokens }) => (tokens === null ? '–' : count(tokens)) },
          ]}
          rows={points.toReversed()}
          rowKey={({ at }) => at}
        />
      </details>
      {versions.length === 0 ? null : (
        <>
          <h3>Versions that hosts run</h3>
          <Table
            caption="Versions that hosts run"
            columns={[
              { header: 'Version', cell: ({ number, semver }) => `${number}${semver === null ? '' : ` · ${semver}`}` },
              { header: 'Reported as loaded', cell: ({ loadReports }) => count(loadReports) },
              { header: 'List requests', cell: ({ listRequests }) => count(listRequests) },
              { header: 'Content fetches', cell: ({ contentFetches }) => count(contentFetches) },
              { header: 'Last reported', cell: ({ lastReportedAt }) => <Time at={lastReportedAt} /> },
            ]}
            rows={versions}
            rowKey={({ versionId }) => versionId}
          />
        </>
      )}
    </div>
  );
}

const [width, height] = [600, 120];

/** A bar per day. The table has the numbers. */
function Chart({ points, label }: { readonly points: UsageReport['points']; readonly label: string }) {
  const most = Math.max(1, ...points.map(({ listRequests, contentFetches }) => listRequests + contentFetches));
  const step = width / points.length;
  const sizeOf = (value: number): number => (value === 0 ? 0 : Math.max(2, (value / most) * (height - 4)));
  return (
    <figure class="usage-chart">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <line x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} />
        {points.map(({ at, listRequests, contentFetches }, index) => {
          const size = sizeOf(listRequests + contentFetches);
          return (
            <rect key={at} x={index * step + 1} y={height - size} width={step - 2} height={size}>
              <title>{`${day(at)}: ${counted(listRequests, 'list request')}, ${counted(contentFetches, 'content fetch', 'content fetches')}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption class="soft small">
        <span>{day(points[0]?.at ?? '')}</span>
        <span>at most {count(most)} per day</span>
        <span>today</span>
      </figcaption>
    </figure>
  );
}

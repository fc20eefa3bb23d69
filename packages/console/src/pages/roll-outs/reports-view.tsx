import type { CallReports, CallTotals, RollOut } from '@tenon/protocol';
import { isRollOutOpen } from '@tenon/protocol/roll-out-limits';
import { useEffect } from 'preact/hooks';
import { byteSize } from '../../components/byte-size.ts';
import { count, counted } from '../../components/count.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Table } from '../../components/table.tsx';
import { ChartFrame } from '../../components/usage/chart-frame.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { type AlignedPoint, alignPoints } from './align-points.ts';
import { LinePlot } from './line-plot.tsx';
import '../../components/usage/usage.css';

/** Reports are no changes that the page would follow. */
const intervalMs = 10_000;

/** What hosts report of a version and of the version before: charts, and their table. */
export function ReportsView({ path, rollOut }: { readonly path: string; readonly rollOut: RollOut }) {
  const api = useApi();
  const reports = useCachedData(path, (signal) => api.get<CallReports>(path, { signal }));
  const isLive = isRollOutOpen(rollOut.state);
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reports.reload();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [isLive, reports.reload]);
  return <Loaded of={reports}>{(data) => <Reports reports={data} />}</Loaded>;
}

function Reports({ reports }: { readonly reports: CallReports }) {
  const { version, previous } = reports;
  const points = alignPoints(reports);
  const [current, before] = [`Version ${version.version}`, `Version ${previous?.version ?? 'before'}`];
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return <p class="soft">Hosts have not reported calls.</p>;
  const compare = (when: string, one: CallTotals | undefined, other: CallTotals | undefined): string =>
    `${when}. ${current}: ${totalsInWords(one)}. ${before}: ${totalsInWords(other)}.`;
  const describe = (at: number | undefined): string => {
    const point = at === undefined ? undefined : points[at];
    if (point === undefined) return compare('This step', version.totals, previous?.totals);
    return compare(timeText(point.at), point.current, point.before);
  };
  return (
    <div class="stack roll-out-reports">
      <h3>Reports of hosts</h3>
      <ul class="line-legend small">
        <li>
          <i aria-hidden="true" /> {current}
        </li>
        {previous === null ? null : (
          <li>
            <i class="is-before" aria-hidden="true" /> {before}
          </li>
        )}
      </ul>
      <ChartFrame label="Time of the charts" points={points.length} describe={describe}>
        {(selected) =>
          plots.map(({ title, read }) => (
            <LinePlot
              key={title}
              title={title}
              current={points.map((point) => read(point.current))}
              before={points.map((point) => read(point.before))}
              ends={[timeText(first.at), timeText(last.at)]}
              selected={selected}
            />
          ))
        }
      </ChartFrame>
      <details>
        <summary>Show as a table</summary>
        <Table
          caption="Reports of hosts"
          columns={[
            { header: 'Time', cell: ({ at }: AlignedPoint) => timeText(at) },
            { header: current, cell: (point: AlignedPoint) => totalsInWords(point.current) },
            { header: before, cell: (point: AlignedPoint) => totalsInWords(point.before) },
          ]}
          rows={points.toReversed()}
          rowKey={({ at }) => at}
        />
      </details>
    </div>
  );
}

/** @returns `null` for what was not reported */
type ValueOf = (totals: CallTotals | undefined) => number | null;

const scaled =
  (value: ValueOf, factor: number): ValueOf =>
  (totals) => {
    const found = value(totals);
    return found === null ? null : found * factor;
  };

const plots: readonly { readonly title: string; readonly read: ValueOf }[] = [
  { title: 'Failed calls, in %', read: scaled((totals) => totals?.errorRate ?? null, 100) },
  { title: 'Call time (p95), in ms', read: scaled((totals) => totals?.p95Seconds ?? null, 1000) },
  { title: 'Memory, in MiB', read: scaled((totals) => totals?.memoryBytes ?? null, 2 ** -20) },
];

const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

function totalsInWords(totals: CallTotals | undefined): string {
  if (totals === undefined || totals.calls === 0) return 'no calls';
  const { calls, errorRate, errors, p95Seconds, memoryBytes } = totals;
  return [
    counted(calls, 'call'),
    `${count(errors)} failed${errorRate === null || errors === 0 ? '' : ` (${short.format(errorRate * 100)}%)`}`,
    ...(p95Seconds === null ? [] : [`p95 ${short.format(p95Seconds * 1000)} ms`]),
    ...(memoryBytes === null ? [] : [byteSize(memoryBytes)]),
  ].join(', ');
}

const time = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

function timeText(at: string): string {
  return time.format(new Date(at));
}

import type { RequestKind, ServerProcess } from '@tenon/protocol';
import { byteSize } from '../../components/byte-size.ts';
import { count, counted } from '../../components/count.ts';
import { relativeTime } from '../../components/relative-time.ts';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { Sparkline } from './sparkline.tsx';
import { StateBadge } from './state-badge.tsx';
import { duration, kinds, type NodeView, type RateView, rate } from './status-model.ts';

/** A machine: what comes to it, what came in the last hour, and its processes. */
export function NodeCard({ view, readAt }: { readonly view: NodeView; readonly readAt: string }) {
  const { node, processes, state, loads, minutes } = view;
  return (
    <li class="node">
      <div class="node-head">
        <h3>{node}</h3>
        <StateBadge state={state} />
        <span class="soft small">{counted(processes.length, 'process', 'processes')}</span>
      </div>
      {loads === undefined ? null : <Loads node={node} loads={loads} />}
      {loads === undefined ? null : <Hour minutes={minutes} />}
      <Table
        caption={`Processes on ${node}`}
        columns={processColumns(readAt)}
        rows={processes}
        rowKey={({ id }) => id}
      />
    </li>
  );
}

const kindWords: Readonly<Record<RequestKind, string>> = {
  lists: 'Binding lists',
  contents: 'Plugin contents',
  publishes: 'Publishes',
  instrument: 'Instrumentation',
  others: 'Everything else',
};

type LoadRow = RateView & { readonly kind: RequestKind };

const loadColumns: readonly Column<LoadRow>[] = [
  { header: 'In the last minute', cell: ({ kind }) => kindWords[kind] },
  { header: 'Requests a second', cell: ({ perSecond }) => rate(perSecond) },
  { header: 'Refused', cell: ({ refused }) => count(refused) },
  { header: 'Failed', cell: ({ failed }) => (failed === 0 ? '0' : <strong class="fault">{count(failed)}</strong>) },
  { header: 'Half took at most', cell: ({ p50Ms }) => duration(p50Ms) },
  { header: '99 of 100 at most', cell: ({ p99Ms }) => duration(p99Ms) },
];

function Loads({ node, loads }: { readonly node: string; readonly loads: NonNullable<NodeView['loads']> }) {
  const rows = kinds.map((kind) => ({ kind, ...loads[kind] }));
  return <Table caption={`Requests to ${node}`} columns={loadColumns} rows={rows} rowKey={({ kind }) => kind} />;
}

function Hour({ minutes }: { readonly minutes: NodeView['minutes'] }) {
  if (minutes.length === 0) return <p class="soft small">The last hour is shown once the first minute is over.</p>;
  return (
    <div class="sparks">
      <Sparkline
        label="Requests a minute"
        values={minutes.map(({ requests }) => requests)}
        format={count}
        tone="plain"
      />
      <Sparkline label="Failed a minute" values={minutes.map(({ failed }) => failed)} format={count} tone="bad" />
      <Sparkline label="99 of 100 took" values={minutes.map(({ p99Ms }) => p99Ms)} format={duration} tone="plain" />
    </div>
  );
}

const processColumns = (readAt: string): readonly Column<ServerProcess>[] => [
  {
    header: 'Process',
    cell: ({ pid, isAnswering }) => (
      <>
        {pid} {isAnswering ? <span class="soft small">answers here</span> : null}
      </>
    ),
  },
  { header: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  {
    header: 'Version',
    cell: ({ version, report }) => (
      <>
        {version} {report === null ? null : <span class="soft small">Node.js {report.nodeVersion}</span>}
      </>
    ),
  },
  { header: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { header: 'Heard of', cell: ({ lastSeenAt }) => heardOf(lastSeenAt, readAt) },
  {
    header: 'Core',
    cell: ({ report }) => (report === null ? '–' : `${Math.round(report.eventLoop.busy * 100)}\u00a0%`),
  },
  {
    header: 'Late by',
    cell: ({ report }) => (report === null ? '–' : duration(report.eventLoop.delayP99Ms)),
  },
  { header: 'Memory', cell: ({ report }) => (report === null ? '–' : byteSize(report.memory.residentBytes)) },
  { header: 'Waiting', cell: ({ report }) => (report === null ? '–' : waiting(report.threads)) },
  { header: 'Connections', cell: ({ report }) => (report === null ? '–' : count(report.connections)) },
  { header: 'News', cell: ({ report }) => (report === null ? '–' : count(report.newsStreams)) },
];

/** As of the moment that the rest is of. The clocks of nodes and of the database may differ a little. */
function heardOf(lastSeenAt: string, readAt: string): string {
  const readAtMs = Date.parse(readAt);
  return relativeTime(Math.min(Date.parse(lastSeenAt), readAtMs), readAtMs);
}

function waiting({ modules, passwords }: NonNullable<ServerProcess['report']>['threads']): string {
  if (modules.queued + passwords.queued === 0) return 'nobody';
  return `${counted(modules.queued, 'module')}, ${counted(passwords.queued, 'password')}`;
}

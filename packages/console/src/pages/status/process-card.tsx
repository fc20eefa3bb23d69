import type { NodeStatus, ProcessStatus, RequestKind, RequestLoad } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { byteSize } from '../../components/byte-size.ts';
import { count, counted } from '../../components/count.ts';
import { relativeTime } from '../../components/relative-time.ts';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { Sparkline } from './sparkline.tsx';
import { NodeBadge, StateBadge } from './state-badge.tsx';
import { duration, perSecond, rate } from './status-model.ts';
import { Facts } from './stores.tsx';

/** The process that responded: load, last hour, and statistics. */
export function ProcessCard({ process }: { readonly process: ProcessStatus }) {
  const { node, state, recent, history } = process;
  return (
    <div class="node">
      <div class="node-head">
        <h3>{node}</h3>
        <StateBadge state={state} />
      </div>
      <Loads recent={recent} />
      <Hour minutes={history.minutes} />
      <Facts of={factsOf(process)} />
    </div>
  );
}

function factsOf(process: ProcessStatus): readonly (readonly [string, ComponentChildren])[] {
  const { pid, version, nodeVersion, startedAt, eventLoop, memory, threads, connections, changeStreams, sandbox } =
    process;
  return [
    ['Process', String(pid)],
    ['Version', `${version}, Node.js ${nodeVersion}`],
    ['Started', <Time key="started" at={startedAt} />],
    ['CPU', `${Math.round(eventLoop.busy * 100)}\u00a0%`],
    ['Event-loop lag (p99)', duration(eventLoop.delayP99Ms)],
    ['Memory', byteSize(memory.residentBytes)],
    ['Queued', waiting(threads)],
    ['Connections', count(connections)],
    ['Change streams', count(changeStreams)],
    ['Simulations', sandbox.length === 0 ? 'off' : `confined by ${sandbox.join(', ')}`],
  ];
}

/** The processes that serve on the same PostgreSQL database. */
export function NodeTable({ nodes, readAt }: { readonly nodes: readonly NodeStatus[]; readonly readAt: string }) {
  return <Table caption="Nodes" columns={nodeColumns(readAt)} rows={nodes} rowKey={({ id }) => id} />;
}

const kindWords: Readonly<Record<RequestKind, string>> = {
  lists: 'Binding lists',
  contents: 'Plugin contents',
  publishes: 'Publishes',
  instrument: 'Instrumentation',
  others: 'Other',
};

type LoadRow = RequestLoad & { readonly kind: RequestKind; readonly seconds: number };

const loadColumns: readonly Column<LoadRow>[] = [
  { header: 'In the last minute', cell: ({ kind }) => kindWords[kind] },
  { header: 'Requests/s', cell: (load) => rate(perSecond(load, load.seconds)) },
  { header: 'Refused', cell: ({ refused }) => count(refused) },
  { header: 'Failed', cell: ({ failed }) => (failed === 0 ? '0' : <strong class="fault">{count(failed)}</strong>) },
  { header: 'Median (p50)', cell: ({ p50Ms }) => duration(p50Ms) },
  { header: 'p99', cell: ({ p99Ms }) => duration(p99Ms) },
];

function Loads({ recent: { seconds, kinds } }: Pick<ProcessStatus, 'recent'>) {
  const rows = (Object.keys(kindWords) as RequestKind[]).map((kind) => ({ kind, seconds, ...kinds[kind] }));
  return <Table caption="Requests" columns={loadColumns} rows={rows} rowKey={({ kind }) => kind} />;
}

function Hour({ minutes }: { readonly minutes: ProcessStatus['history']['minutes'] }) {
  if (minutes.length === 0) return <p class="soft small">The last hour appears after the first minute.</p>;
  return (
    <div class="sparks">
      <Sparkline label="Requests/min" values={minutes.map(({ requests }) => requests)} format={count} tone="plain" />
      <Sparkline label="Failed/min" values={minutes.map(({ failed }) => failed)} format={count} tone="bad" />
      <Sparkline label="p99 latency" values={minutes.map(({ p99Ms }) => p99Ms)} format={duration} tone="plain" />
    </div>
  );
}

const nodeColumns = (readAt: string): readonly Column<NodeStatus>[] => [
  { header: 'Node', cell: ({ node }) => node },
  {
    header: 'Process',
    cell: ({ pid, isResponding }) => (
      <>
        {pid} {isResponding ? <span class="soft small">answered this request</span> : null}
      </>
    ),
  },
  { header: 'State', cell: ({ isLost }) => <NodeBadge isLost={isLost} /> },
  { header: 'Version', cell: ({ version }) => version },
  { header: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { header: 'Last heartbeat', cell: ({ lastSeenAt }) => heardOf(lastSeenAt, readAt) },
];

/** Relative to the time of the status. The clocks of nodes and of the database may differ slightly. */
function heardOf(lastSeenAt: string, readAt: string): string {
  const readAtMs = Date.parse(readAt);
  return relativeTime(Math.min(Date.parse(lastSeenAt), readAtMs), readAtMs);
}

function waiting({ modules, passwords, simulations }: ProcessStatus['threads']): string {
  const queues = [
    [modules.queued, 'module'],
    [passwords.queued, 'password'],
    [simulations.queued, 'simulation'],
  ] as const;
  const words = queues.filter(([queued]) => queued > 0).map(([queued, word]) => counted(queued, word));
  return words.length === 0 ? 'none' : words.join(', ');
}

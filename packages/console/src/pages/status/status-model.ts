import type {
  MinuteLoad,
  ProcessReport,
  ProcessState,
  RequestKind,
  RequestLoad,
  ServerProcess,
  ServerStatus,
} from '@tenon/protocol';

/** The processes of one machine, and what came to all of them together. */
export interface NodeView {
  readonly node: string;
  readonly processes: readonly ServerProcess[];
  /** The worst that one of them is in. */
  readonly state: ProcessState;
  /** Of each kind, a second, over about the last minute. */
  readonly loads: { readonly [Kind in RequestKind]: RateView } | undefined;
  /** The last hour, the oldest minute first. */
  readonly minutes: readonly MinuteLoad[];
}

/** Requests of one kind; how long they took is that of the process in which it was longest. */
export interface RateView extends Omit<RequestLoad, 'requests'> {
  readonly perSecond: number;
}

/** Something that somebody ought to look at. */
export interface Concern {
  readonly kind: 'bad' | 'waiting';
  readonly text: string;
}

export const kinds: readonly RequestKind[] = ['lists', 'contents', 'publishes', 'instrument', 'others'];

const worstFirst: readonly ProcessState[] = ['lost', 'not_ready', 'stopping', 'ready'];

export function nodesOf(processes: readonly ServerProcess[]): NodeView[] {
  return [...Map.groupBy(processes, ({ node }) => node)].map(([node, own]) => {
    const live = own.filter(({ state }) => state !== 'lost');
    const reports = live.flatMap(({ report }) => report ?? []);
    return {
      node,
      processes: own,
      state: worstFirst.find((state) => own.some((one) => one.state === state)) ?? 'ready',
      loads: reports.length === 0 ? undefined : loadsOf(reports),
      minutes: minutesOf(reports),
    };
  });
}

function loadsOf(reports: readonly ProcessReport[]): NonNullable<NodeView['loads']> {
  const rates = kinds.map((kind) => [kind, rateOf(reports, kind)] as const);
  return Object.fromEntries(rates) as NonNullable<NodeView['loads']>;
}

function rateOf(reports: readonly ProcessReport[], kind: RequestKind): RateView {
  const loads = reports.map(({ recent }) => ({ ...recent.kinds[kind], seconds: recent.seconds }));
  const sum = (of: (load: (typeof loads)[number]) => number) => loads.reduce((all, load) => all + of(load), 0);
  return {
    perSecond: sum(({ requests, seconds }) => (seconds === 0 ? 0 : requests / seconds)),
    refused: sum(({ refused }) => refused),
    failed: sum(({ failed }) => failed),
    p50Ms: longest(loads.map(({ p50Ms }) => p50Ms)),
    p99Ms: longest(loads.map(({ p99Ms }) => p99Ms)),
  };
}

/** The minutes of several processes end at other moments; the last of each counts as the same one. */
function minutesOf(reports: readonly ProcessReport[]): MinuteLoad[] {
  const histories = reports.map(({ history }) => history.minutes.toReversed());
  const length = Math.max(0, ...histories.map((minutes) => minutes.length));
  return Array.from({ length }, (_, ago) => {
    const same = histories.flatMap((minutes) => minutes[ago] ?? []);
    const sum = (of: (minute: MinuteLoad) => number) => same.reduce((all, minute) => all + of(minute), 0);
    return {
      requests: sum(({ requests }) => requests),
      refused: sum(({ refused }) => refused),
      failed: sum(({ failed }) => failed),
      p99Ms: longest(same.map(({ p99Ms }) => p99Ms)),
    };
  }).toReversed();
}

function longest(values: readonly (number | null)[]): number | null {
  return values.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null);
}

/** What somebody ought to look at, the worst first; nothing when all is well. */
export function concernsOf({ metadata, blobs, processes, chores }: ServerStatus): Concern[] {
  const found: Concern[] = [];
  const bad = (text: string) => void found.push({ kind: 'bad', text });
  const look = (text: string) => void found.push({ kind: 'waiting', text });
  if (!metadata.isReachable) bad('The metadata store does not answer.');
  if (!blobs.isReachable) bad('The store of plugins does not answer.');
  for (const { state, node, pid, report } of processes) {
    if (state === 'lost') bad(`Process ${pid} on ${node} has not been heard of for a minute or more.`);
    const reasons = report?.reasons.join('; ') ?? '';
    if (state === 'not_ready') bad(`Process ${pid} on ${node} is not ready: ${reasons}.`);
    if (state === 'ready' && reasons !== '') look(`Process ${pid} on ${node}: ${reasons}.`);
  }
  if ((chores.verify?.faults ?? 0) > 0) bad('When data was last verified, not all of it was as it must be.');
  if (!metadata.knowsCommits) look('It is not known what other processes commit, so nothing is answered from memory.');
  if (new Set(processes.filter(({ state }) => state !== 'lost').map(({ version }) => version)).size > 1) {
    look('Processes of several versions serve side by side.');
  }
  return found;
}

/** A rate as people read it: `0`, `0.3`, `12`, `4,810`. */
export function rate(perSecond: number): string {
  const digits = perSecond > 0 && perSecond < 10 ? 1 : 0;
  return perSecond.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A time as people read it: `0.5 ms`, `250 ms`, `2.5 s`; a dash for none. */
export function duration(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1000 ? `${Number(ms.toPrecision(3))}\u00a0ms` : `${Number((ms / 1000).toPrecision(3))}\u00a0s`;
}

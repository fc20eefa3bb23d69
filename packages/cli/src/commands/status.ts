import {
  type NodeStatus,
  type ProcessStatus,
  requestKinds,
  type ServerStatus,
  serverStatus,
  webhookDeliveryRetentionDays,
} from '@tenon/protocol';
import { formatHead } from '../audit-options.ts';
import { type Command, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { calling, type Session } from '../session.ts';
import { type Cell, type Field, formatNumber, formatSize, formatTime, printable } from '../text.ts';

type StoreReach = Pick<ServerStatus['blobs'], 'place' | 'isReachable' | 'pingMs'>;

interface StatusOptions {
  readonly watch?: boolean;
}

/** Milliseconds between two requests with `--watch`. */
const watchMs = 5_000;

/** Clears a terminal and moves to its upper left corner. */
const clearScreen = '\u001b[2J\u001b[H';

export function addStatusCommand(program: Command, io: Io): void {
  program
    .command('status')
    .description('show the status of the server, for its operators: stores, the answering process, and all nodes')
    .option('--watch', 'refresh every 5 seconds until interrupted')
    .use(withServer)
    .examples('tenon status', 'tenon status --watch', "tenon status --json | jq -r '.nodes[] | select(.isLost).node'")
    .addHelpText('after', `To make a user an operator, on the server's machine: tenon admin operator grant <user>`)
    .action(calling(io, showStatus));
}

async function showStatus(session: Session, { watch = false }: StatusOptions): Promise<void> {
  const { api, out, io, signal } = session;
  for (;;) {
    const status = await api.get('/api/v1/status', serverStatus);
    if (watch && !out.isJson && io.stdout.isTTY === true) io.stdout.write(clearScreen);
    out.result(status, () => show(out, status));
    if (!watch) return;
    await io.sleep(watchMs, signal);
  }
}

function show(out: Reporter, status: ServerStatus): void {
  const { readAt, metadata, blobs, mail, webhooks, mirror, audit, process, nodes } = status;
  const database = metadata.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  out.fields([
    ['as of', formatTime(readAt)],
    [
      'metadata',
      reach(out, database, metadata, metadata.knowsCommits ? '' : ', changes of other processes are not arriving'),
    ],
    ['plugins in', reach(out, blobs.kind === 's3' ? 'object store' : 'folder', blobs)],
    ...(mail === null ? [] : [['mail', `${mail.queued} waiting, ${mail.failed} failed in 7 days`] as Field]),
    ['webhooks', webhooksInWords(webhooks)],
    ['audit head', formatHead(audit)],
    ...mirrorFields(out, mirror),
    ...processFields(out, process),
  ]);
  if (nodes.length === 0) return;
  out.write('\n');
  out.table(
    ['NODE', 'PID', 'STATE', 'VERSION', 'SINCE', 'LAST SEEN'],
    nodes.map((node) => nodeRow(out, node)),
    '',
  );
}

function reach(out: Reporter, kind: string, { place, isReachable, pingMs }: StoreReach, warning = ''): Cell {
  const store = `${kind} ${printable(place)}`;
  if (!isReachable) return { text: `${store}, unreachable`, style: out.style.error };
  const text = `${store}, answers in ${pingMs ?? 0} ms${warning}`;
  return warning === '' ? text : { text, style: out.style.warning };
}

function webhooksInWords({ pending, oldestPendingAt, failed }: ServerStatus['webhooks']): string {
  const since = oldestPendingAt === null ? '' : ` since ${formatTime(oldestPendingAt)}`;
  return `${pending} pending${since}, ${failed} failed in ${webhookDeliveryRetentionDays} days`;
}

function mirrorFields(out: Reporter, mirror: ServerStatus['mirror']): Field[] {
  if (mirror === null) return [];
  const { source, state, detail, equalAt, lists, missingLists, missingContents } = mirror;
  const text = detail === null ? state : `${state}: ${printable(detail)}`;
  const missing = `${formatNumber(missingLists)} differ, ${formatNumber(missingContents)} contents missing`;
  return [
    ['mirror of', printable(source)],
    ['following', { text, style: state === 'following' ? out.style.good : out.style.warning }],
    ['equal at', equalAt === null ? 'never' : formatTime(equalAt)],
    ['lists', `${formatNumber(lists)}, ${missing}`],
  ];
}

const stateWords = { ready: 'ready', not_ready: 'not ready', stopping: 'stopping' } as const;

function processFields(out: Reporter, process: ProcessStatus): Field[] {
  const { node, pid, version, startedAt, state, reasons, recent, eventLoop, memory, connections, sandbox } = process;
  const word = stateWords[state];
  const { requests, failed, p99Ms } = loadOf(process);
  const perSecond = recent.seconds === 0 ? '0' : (requests / recent.seconds).toFixed(1);
  const longest = p99Ms === null ? '' : `, 99 of 100 within ${p99Ms} ms`;
  return [
    ['process', `${node}, pid ${pid}, ${version}, since ${formatTime(startedAt)}`],
    ['state', { text: word, style: state === 'ready' ? out.style.good : out.style.warning }],
    ...reasons.map((text): Field => ['problem', { text, style: out.style.warning }]),
    ['requests', `${perSecond} a second, ${formatNumber(failed)} failed${longest}`],
    ['core', `${Math.round(eventLoop.busy * 100)} %`],
    ['memory', formatSize(memory.residentBytes)],
    ['connections', formatNumber(connections)],
    ['simulations', sandbox.length === 0 ? 'off' : `confined by ${sandbox.join(', ')}`],
  ];
}

function nodeRow(out: Reporter, { node, pid, version, startedAt, lastSeenAt, isLost }: NodeStatus): Cell[] {
  const state = isLost ? { text: 'lost', style: out.style.warning } : { text: 'running', style: out.style.good };
  return [node, String(pid), state, version, formatTime(startedAt), formatTime(lastSeenAt)];
}

/** Sums all kinds. The 99th percentile is the longest of any kind. */
function loadOf({ recent }: ProcessStatus): { requests: number; failed: number; p99Ms: number | null } {
  const loads = (Object.keys(requestKinds) as (keyof typeof requestKinds)[]).map((kind) => recent.kinds[kind]);
  const longest = loads.map(({ p99Ms }) => p99Ms ?? -1).reduce((a, b) => Math.max(a, b));
  return {
    requests: loads.reduce((sum, { requests }) => sum + requests, 0),
    failed: loads.reduce((sum, { failed }) => sum + failed, 0),
    p99Ms: longest < 0 ? null : longest,
  };
}

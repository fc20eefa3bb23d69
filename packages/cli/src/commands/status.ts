import {
  type ProcessReport,
  type RowCount,
  requestKinds,
  type ServerProcess,
  type ServerStatus,
  serverStatus,
} from '@tenon/protocol';
import type { Command } from 'commander';
import { examples, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { calling, type Session } from '../session.ts';
import { count, formatNumber, formatSize, formatTime, printable } from '../text.ts';

interface StatusOptions {
  readonly watch?: boolean;
}

/** How often it is asked anew with `--watch`, in milliseconds. */
const watchMs = 5_000;

/** Clears a terminal, and goes to its upper left corner. */
const clearScreen = '\u001b[2J\u001b[H';

export function addStatusCommand(program: Command, io: Io): void {
  withServer(
    program
      .command('status')
      .description('show how the server is, which takes its operator: processes, stores, and how much there is')
      .option('--watch', 'show it anew every 5 seconds, until it is interrupted'),
  )
    .addHelpText(
      'after',
      `${examples(
        'tenon status',
        'tenon status --watch',
        'tenon status --json | jq -r \'.processes[] | select(.state != "ready").node\'',
      )}
Whoever has the server's machine makes an operator: tenon admin grant-operator <user>
`,
    )
    .action(calling(io, showStatus));
}

async function showStatus(session: Session, { watch = false }: StatusOptions): Promise<void> {
  const { api, out, io, signal } = session;
  for (;;) {
    const status = await api.get('/api/v1/status', serverStatus);
    if (watch && !out.isJson && io.stdout.isTTY === true) out.write(clearScreen);
    out.result(status, () => show(out, status));
    if (!watch) return;
    await io.sleep(watchMs, signal);
  }
}

function show(out: Reporter, status: ServerStatus): void {
  const { counts, chores, processes } = status;
  out.fields([
    ['as of', formatTime(status.readAt)],
    ['metadata', metadataLine(out, status)],
    ['plugins in', `${status.blobs.kind === 's3' ? 'object store' : 'folder'}, ${reach(out, status.blobs)}`],
    ...(counts === null ? [] : countLines(counts)),
    ['collected', chores.collect === null ? 'never' : collected(chores.collect)],
    ['verified', chores.verify === null ? 'never' : verified(out, chores.verify)],
    ['backed up', chores.backup === null ? 'never' : backedUp(chores.backup)],
  ]);
  out.write('\n');
  out.table(
    ['NODE', 'PID', 'STATE', 'VERSION', 'SINCE', 'REQUESTS/S', 'FAILED', 'P99', 'CORE', 'MEMORY', 'CONNECTIONS'],
    processes.map((process) => processRow(out, process)),
    '',
  );
  for (const { node, pid, report } of processes) {
    if (report !== null && report.reasons.length > 0) {
      out.write(
        `${out.style.warning(report.isReady ? 'look at' : 'not ready')}  ${printable(node)} (${pid}): ${report.reasons.map(printable).join('; ')}\n`,
      );
    }
  }
}

function metadataLine(out: Reporter, { metadata }: ServerStatus): string {
  const { kind, version, bytes, schemaVersion, knowsCommits } = metadata;
  const parts = [
    `${kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}${version === null ? '' : ` ${printable(version)}`}`,
    reach(out, metadata),
    ...(bytes === null ? [] : [formatSize(bytes)]),
    ...(schemaVersion === null ? [] : [`schema ${schemaVersion}`]),
    ...(knowsCommits ? [] : [out.style.warning('commits of others are not known')]),
  ];
  return parts.join(', ');
}

function reach(out: Reporter, { isReachable, pingMs }: Pick<ServerStatus['blobs'], 'isReachable' | 'pingMs'>): string {
  return isReachable ? `answers in ${pingMs ?? 0} ms` : out.style.error('away');
}

function about({ value, isEstimate }: RowCount, one: string): string {
  return `${isEstimate ? 'about ' : ''}${count(value, one)}`;
}

function countLines(counts: NonNullable<ServerStatus['counts']>): (readonly [string, string])[] {
  const { accounts, apps, extensionPoints, guests, plugins, versions, bindings, contents, contentBytes } = counts;
  const size = `${contentBytes.isEstimate ? 'about ' : ''}${formatSize(contentBytes.value)}`;
  return [
    ['accounts', about(accounts, 'account')],
    ['hosts', `${about(apps, 'application')}, ${about(extensionPoints, 'extension point')}, ${about(guests, 'guest')}`],
    ['plugins', `${about(plugins, 'plugin')}, ${about(versions, 'version')}, ${about(bindings, 'binding')}`],
    ['bytes', `${about(contents, 'content')}, ${size}`],
  ];
}

function collected({ endedAt, deleted, deletedBytes }: NonNullable<ServerStatus['chores']['collect']>): string {
  return `${formatTime(endedAt)}: ${count(deleted, 'content')} deleted, ${formatSize(deletedBytes)}`;
}

function verified(out: Reporter, { endedAt, contents, faults }: NonNullable<ServerStatus['chores']['verify']>): string {
  const found = faults === 0 ? 'no faults' : out.style.error(count(faults, 'fault'));
  return `${formatTime(endedAt)}: ${count(contents, 'content')}, ${found}`;
}

function backedUp({ endedAt, bytes }: NonNullable<ServerStatus['chores']['backup']>): string {
  return `${formatTime(endedAt)}: ${formatSize(bytes)}`;
}

const stateWords = { ready: 'ready', not_ready: 'not ready', stopping: 'stopping', lost: 'lost' } as const;

function processRow(out: Reporter, { node, pid, version, startedAt, state, report }: ServerProcess): string[] {
  const word = stateWords[state];
  const shown = state === 'ready' ? out.style.good(word) : out.style.warning(word);
  const known = [printable(node), String(pid), shown, printable(version), formatTime(startedAt)];
  if (report === null) return [...known, '?', '?', '?', '?', '?', '?'];
  const { requests, failed, p99Ms } = loadOf(report);
  const { seconds } = report.recent;
  return [
    ...known,
    seconds === 0 ? '0' : (requests / seconds).toFixed(1),
    formatNumber(failed),
    p99Ms === null ? '-' : `${p99Ms} ms`,
    `${Math.round(report.eventLoop.busy * 100)} %`,
    formatSize(report.memory.residentBytes),
    formatNumber(report.connections),
  ];
}

/** All kinds together; of what 99 in 100 took, the longest of any kind. */
function loadOf({ recent }: ProcessReport): { requests: number; failed: number; p99Ms: number | null } {
  const loads = (Object.keys(requestKinds) as (keyof typeof requestKinds)[]).map((kind) => recent.kinds[kind]);
  const longest = loads.map(({ p99Ms }) => p99Ms ?? -1).reduce((a, b) => Math.max(a, b));
  return {
    requests: loads.reduce((sum, { requests }) => sum + requests, 0),
    failed: loads.reduce((sum, { failed }) => sum + failed, 0),
    p99Ms: longest < 0 ? null : longest,
  };
}

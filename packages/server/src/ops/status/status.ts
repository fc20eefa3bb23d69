import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { newId, type ServerStatus } from '@tenon/protocol';
import { readAuditHead } from '../../audit/seal.ts';
import type { MirrorSettings } from '../../config/mirror-file.ts';
import type { Settings } from '../../config/settings.ts';
import { type StorePlaceSettings, storePlaces } from '../../config/store-places.ts';
import { version } from '../../config/version.ts';
import type { MailQueueSummary } from '../../db/mail-records.ts';
import type { MirrorRecord } from '../../db/mirror-records.ts';
import type { SeenNode } from '../../db/node-records.ts';
import type { WebhookBacklog } from '../../db/webhook-records.ts';
import type { Deps } from '../../deps.ts';
import type { PoolLoad } from '../../workers/pool.ts';
import type { RequestCounts } from '../metrics/instrument-requests.ts';
import { boundsMs, createActivity, createWindow, type TotalsByKind } from './activity.ts';
import { type EventLoopMonitor, noDelays } from './event-loop-delay.ts';
import type { PingResult, Readiness, StoreFailure } from './readiness.ts';

/** How often to call {@link Status.tick}, in milliseconds. */
export const statusTickMs = 5_000;

/** A node without a heartbeat for this long counts as lost, in milliseconds. Heartbeats come every 15 seconds. */
const lostAfterMs = 60_000;

export interface StatusDeps extends Pick<Deps, 'store' | 'clock' | 'simulator'> {
  readonly settings: StorePlaceSettings & Pick<Settings, 'smtp' | 'auditSyslog' | 'mirror'>;
  readonly readiness: Readiness;
  readonly draining: { readonly isOn: boolean };
  readonly contents: { readonly usage: { readonly bytes: number } };
  readonly changeStreams: { readonly acquired: number };
  readonly requests: Pick<RequestCounts, 'connections'> | undefined;
  readonly totals: () => TotalsByKind;
  readonly workers: { readonly load: PoolLoad };
  readonly passwords: { readonly load: PoolLoad };
  readonly eventLoop: EventLoopMonitor | undefined;
}

/** The status of this process, with a history in memory, of the stores, and on PostgreSQL of the other nodes. */
export type Status = ReturnType<typeof createStatus>;

export function createStatus(deps: StatusDeps) {
  const { store, clock, settings, readiness, draining, totals, eventLoop } = deps;
  const now = () => performance.now();
  const activity = createActivity(totals, boundsMs, now);
  const utilization = createWindow(performance.eventLoopUtilization(), now);
  const clockWarnings = new Map<string, string>();
  const places = storePlaces({ ...settings, dataDir: resolve(settings.dataDir) });
  const [id, node, startedAtMs] = [newId('process'), hostname(), clock()];

  const reasonsOf = (failures: readonly StoreFailure[]): string[] => [
    ...failures.map(({ store: name, reason }) => `the ${name} ${reason}`),
    ...clockWarnings.values(),
  ];
  const ownProcess = (failures: readonly StoreFailure[], writeFailures: readonly StoreFailure[]) => {
    const { rss, heapUsed } = process.memoryUsage();
    const { seconds, kinds } = activity.recent();
    const { untilMsAgo, minutes } = activity.history();
    const busy = performance.eventLoopUtilization(utilization.first().value).utilization;
    const { p99Ms, maxMs } = eventLoop?.read() ?? noDelays;
    const sandbox = [...deps.simulator.protections];
    const state = draining.isOn ? 'stopping' : failures.length > 0 ? 'not_ready' : 'ready';
    return {
      node,
      pid: process.pid,
      version,
      nodeVersion: process.versions.node,
      startedAt: time(startedAtMs),
      state,
      reasons: reasonsOf(failures.length > 0 ? failures : writeFailures),
      memory: { residentBytes: rss, heapBytes: heapUsed, contentCacheBytes: deps.contents.usage.bytes },
      eventLoop: { busy: Math.min(1, Math.max(0, round(busy))), delayP99Ms: round(p99Ms), delayMaxMs: round(maxMs) },
      threads: {
        modules: loadOf(deps.workers),
        passwords: loadOf(deps.passwords),
        simulations: loadOf(deps.simulator),
      },
      sandbox,
      connections: deps.requests?.connections ?? 0,
      changeStreams: deps.changeStreams.acquired,
      recent: { seconds: round(seconds), kinds },
      history: { untilMinutesAgo: round(untilMsAgo / 60_000), minutes },
    } as const;
  };
  const toNode = ({ silentMs, startedAtMs: startMs, lastSeenAtMs, ...known }: SeenNode) => ({
    ...known,
    startedAt: time(startMs),
    lastSeenAt: time(lastSeenAtMs),
    isResponding: known.id === id,
    isLost: silentMs > lostAfterMs,
  });

  return {
    /** The id of this process in the list of nodes. */
    id,
    node,
    startedAtMs,
    tick(): void {
      activity.tick();
      utilization.add(performance.eventLoopUtilization());
    },
    /** @throws UnavailableError when the metadata can't be read */
    async read(): Promise<ServerStatus> {
      const hasNodes = settings.databaseUrl !== undefined;
      const [pings, failures, writeFailures, nodes, queue, webhooks, audit, mirror] = await Promise.all([
        readiness.checkStores(),
        readiness.failures(),
        readiness.writeFailures(),
        hasNodes ? store.read.nodes() : [],
        settings.smtp === undefined ? undefined : store.read.mailQueue(),
        store.read.webhookBacklog(),
        readAuditStatus(deps),
        settings.mirror === undefined ? undefined : store.read.mirror(),
      ]);
      return {
        readAt: time(clock()),
        metadata: {
          kind: hasNodes ? 'postgresql' : 'sqlite',
          place: places.metadata,
          ...reachability(pings.metadata),
          knowsCommits: store.isRevisionTrusted(),
        },
        blobs: {
          kind: settings.s3Bucket === undefined ? 'folder' : 's3',
          place: places.blobs,
          ...reachability(pings.blobs),
        },
        mail: queue === undefined ? null : mailOf(queue),
        webhooks: webhooksOf(webhooks),
        audit,
        mirror: settings.mirror === undefined ? null : mirrorOf(settings.mirror, mirror),
        process: ownProcess(failures, writeFailures),
        nodes: nodes.map(toNode).toSorted(byNodeAndStart),
      };
    },
    /** Shows a warning about a clock; `undefined` removes it. */
    setClockWarning(kind: 'database' | 'maintenance', warning: string | undefined): void {
      if (warning === undefined) clockWarnings.delete(kind);
      else clockWarnings.set(kind, warning);
    },
  };
}

async function readAuditStatus({ store, settings }: Pick<StatusDeps, 'store' | 'settings'>) {
  const head = await readAuditHead({ store });
  if (settings.auditSyslog === undefined) return { ...head, syslogWaiting: null };
  const sent = await store.read.auditPosition('syslog');
  return { ...head, syslogWaiting: Math.max(0, head.seq - (sent?.seq ?? head.seq)) };
}

function reachability({ failure, durationMs }: PingResult) {
  const isReachable = failure === undefined;
  return { isReachable, pingMs: isReachable ? Math.round(durationMs * 100) / 100 : null };
}

function loadOf({ load: { running, queued } }: { readonly load: PoolLoad }) {
  return { running, queued };
}

function mailOf({ queued, oldestQueuedAtMs, failed }: MailQueueSummary) {
  return { queued, oldestQueuedAt: oldestQueuedAtMs === null ? null : time(oldestQueuedAtMs), failed };
}

function webhooksOf({ pending, oldestPendingAtMs, failed }: WebhookBacklog) {
  return { pending, oldestPendingAt: oldestPendingAtMs === null ? null : time(oldestPendingAtMs), failed };
}

function mirrorOf({ source }: MirrorSettings, record: MirrorRecord | undefined) {
  const { state = 'synchronizing', detail = null, equalAtMs = null, completedAtMs = null } = record ?? {};
  const { lists = 0, missingLists = 0, missingContents = 0 } = record ?? {};
  const equalAt = equalAtMs === null ? null : time(equalAtMs);
  return { source, state, detail, isComplete: completedAtMs !== null, equalAt, lists, missingLists, missingContents };
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function byNodeAndStart<T extends ServerStatus['nodes'][number]>(a: T, b: T): number {
  if (a.node !== b.node) return a.node < b.node ? -1 : 1;
  return a.startedAt < b.startedAt ? -1 : 1;
}

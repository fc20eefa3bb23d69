import { performance } from 'node:perf_hooks';
import process from 'node:process';
import type { AuditSealer } from '../../audit/sealer.ts';
import type { SyslogSender } from '../../audit/syslog-sender.ts';
import type { RefusalCounts } from '../../auth/refusal-reasons.ts';
import type { Damage, DamagedContentError } from '../../blobs/stored-contents.ts';
import { version } from '../../config/version.ts';
import type { Deps } from '../../deps.ts';
import type { Mirror } from '../../mirror/mirror.ts';
import type { StoreSettings } from '../../open-stores.ts';
import type { Services } from '../../services.ts';
import type { SimulationRuns } from '../../simulations/simulation-runs.ts';
import type { WebhookSender } from '../../webhooks/sender.ts';
import type { OnTaskEnd, PoolLoad } from '../../workers/pool.ts';
import type { MailSender } from '../mail/send-mails.ts';
import { type EventLoopMonitor, monitorEventLoop } from '../status/event-loop-delay.ts';
import { createRequestCounts } from './instrument-requests.ts';
import { createRegistry, type Registry } from './registry.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** The pools of workers. */
export type PoolName = 'modules' | 'passwords' | 'simulations';

type SpanCounts = Readonly<Record<'sent' | 'rejected' | 'failed' | 'dropped' | 'queued', number>>;

export interface MetricSources {
  readonly workers: { readonly load: PoolLoad };
  readonly passwords: { readonly load: PoolLoad };
  readonly deps: Pick<Deps, 'cache' | 'store' | 'simulator'>;
}

/** @param listRoute the template of the route for binding lists, which the response cache serves */
export function createMetrics(settings: StoreSettings, listRoute: string) {
  const registry = createRegistry();
  const kinds = {
    metadata: settings.databaseUrl === undefined ? 'sqlite' : 'postgresql',
    blobs: settings.s3Bucket === undefined ? 'folder' : 's3',
  };
  registry.atScrape('tenon_build_info', () => [{ labels: { version, node: process.version, ...kinds }, value: 1 }]);
  const damageCounter = (damage: Damage) => registry.counter('tenon_damaged_contents_total', { damage });
  for (const damage of ['missing', 'size', 'digest'] as const) damageCounter(damage);
  const newNetworkUses = registry.counter('tenon_new_network_uses_total', {});
  const eventLoop = monitorEventLoop();
  readProcess(registry, eventLoop);
  return {
    registry,
    eventLoop,
    requests: createRequestCounts(registry, listRoute),
    tasksOf:
      (pool: PoolName): NonNullable<OnTaskEnd> =>
      (task, outcome, durationMs) => {
        const { kind } = task;
        registry.counter('tenon_worker_tasks_total', { pool, task: kind, outcome }).value++;
        registry.histogram('tenon_worker_task_duration_seconds', { pool, task: kind }).observe(durationMs / 1000);
      },
    refusals: countRefusals(registry),
    onDamage({ damage }: Pick<DamagedContentError, 'damage'>): void {
      damageCounter(damage).value++;
    },
    onNewNetwork(): void {
      newNetworkUses.value++;
    },
    /** Reads the values of the sources at each scrape. */
    watch: (sources: MetricSources, services: Pick<Services, 'contents' | 'changeStreams'>): void =>
      watch(registry, sources, services),
    /** Reads the counts of exported spans at each scrape. */
    watchSpans(counts: () => SpanCounts): void {
      registry.atScrape('tenon_spans_total', () => {
        const { queued: _, ...ended } = counts();
        return Object.entries(ended).map(([outcome, value]) => ({ labels: { outcome }, value }));
      });
      registry.valueAtScrape('tenon_spans_queued', () => counts().queued);
    },
    /** Reads the state of the queue of tests at each scrape. */
    watchSimulationRuns({ counts, state }: Pick<SimulationRuns, 'counts' | 'state'>): void {
      registry.atScrape('tenon_simulation_runs_total', () =>
        Object.entries(counts).map(([verdict, value]) => ({ labels: { verdict }, value })),
      );
      registry.valueAtScrape('tenon_simulation_runs_queued', () =>
        state.queue ? state.queue.queued + state.queue.running : 0,
      );
      registry.valueAtScrape('tenon_simulation_runs_errored', () => state.queue?.errored ?? 0);
    },
    /** Reads the state of the sender of mails at each scrape. */
    watchMails({ counts, state }: Pick<MailSender, 'counts' | 'state'>): void {
      registry.atScrape('tenon_mails_total', () =>
        Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
      );
      registry.valueAtScrape('tenon_mails_queued', () => state.queue?.queued ?? 0);
      registry.valueAtScrape('tenon_mail_server_reachable', () => Number(state.unreachable === undefined));
    },
    /** Reads the state of the sealer of the audit chain at each scrape. */
    watchAuditChain({ state }: Pick<AuditSealer, 'state'>): void {
      registry.valueAtScrape('tenon_audit_chain_length', () => state.head?.seq ?? 0);
      registry.valueAtScrape('tenon_audit_chain_faults', () => state.faults);
    },
    /** Reads the state of the sender to syslog at each scrape. */
    watchSyslog({ state }: Pick<SyslogSender, 'state'>): void {
      registry.valueAtScrape('tenon_audit_syslog_sent_total', () => state.sent);
      registry.valueAtScrape('tenon_audit_syslog_lag_events', () => state.lagEvents);
      registry.valueAtScrape('tenon_audit_syslog_lag_seconds', () =>
        state.oldestWaitingAtMs === undefined ? 0 : Math.max(0, Date.now() - state.oldestWaitingAtMs) / 1000,
      );
    },
    /** Reads the counts and the queue of the sender of webhooks at each scrape. */
    watchWebhooks({ counts, state }: Pick<WebhookSender, 'counts' | 'state'>): void {
      registry.atScrape('tenon_webhook_deliveries_total', () =>
        Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
      );
      registry.valueAtScrape('tenon_webhook_deliveries_queued', () => state.queue?.pending ?? 0);
      registry.valueAtScrape('tenon_webhook_queue_age_seconds', () => {
        const oldestMs = state.queue?.oldestDueAtMs ?? null;
        return oldestMs === null ? 0 : Math.max(0, Date.now() - oldestMs) / 1000;
      });
    },
    /** Reads the state of a mirror at each scrape. */
    watchMirror({ state }: Pick<Mirror, 'state'>): void {
      registry.valueAtScrape('tenon_mirror_delay_seconds', () => {
        const equalAtMs = state.record?.equalAtMs ?? null;
        return equalAtMs === null ? Number.POSITIVE_INFINITY : Math.max(0, Date.now() - equalAtMs) / 1000;
      });
      registry.valueAtScrape('tenon_mirror_connected', () => {
        const stateName = state.record?.state;
        return Number(stateName !== undefined && stateName !== 'unreachable' && stateName !== 'refused');
      });
      registry.valueAtScrape('tenon_mirror_lists', () => state.record?.lists ?? 0);
      registry.valueAtScrape('tenon_mirror_missing_lists', () => state.record?.missingLists ?? 0);
      registry.valueAtScrape('tenon_mirror_missing_contents', () => state.record?.missingContents ?? 0);
    },
    close: eventLoop.close,
  };
}

function watch(
  registry: Registry,
  { workers, passwords, deps }: MetricSources,
  { contents, changeStreams }: Pick<Services, 'contents' | 'changeStreams'>,
): void {
  const readPools = (key: keyof PoolLoad) => () => [
    { labels: { pool: 'modules' }, value: workers.load[key] },
    { labels: { pool: 'passwords' }, value: passwords.load[key] },
    { labels: { pool: 'simulations' }, value: deps.simulator.load[key] },
  ];
  registry.atScrape('tenon_worker_tasks_queued', readPools('queued'));
  registry.atScrape('tenon_worker_tasks_running', readPools('running'));
  registry.valueAtScrape('tenon_change_streams', () => changeStreams.acquired);
  registry.valueAtScrape('tenon_content_cache_bytes', () => contents.usage.bytes);
  registry.atScrape('tenon_content_cache_requests_total', () => [
    { labels: { result: 'hit' }, value: contents.usage.hits },
    { labels: { result: 'miss' }, value: contents.usage.misses },
  ]);
  registry.atScrape('tenon_cache_requests_total', () =>
    Object.entries(deps.cache.usage).map(([result, value]) => ({ labels: { result }, value })),
  );
  registry.valueAtScrape('tenon_store_revision_trusted', () => Number(deps.store.isRevisionTrusted()));
}

function countRefusals(registry: Registry): RefusalCounts {
  const suppressed = registry.counter('tenon_suppressed_refusals_total', {});
  return {
    refused(means, reason) {
      registry.counter('tenon_refused_sign_ins_total', { means, reason }).value++;
    },
    suppressed() {
      suppressed.value++;
    },
  };
}

/** Reads the process's own values at each scrape. */
export function readProcess(registry: Registry, eventLoop: EventLoopMonitor): void {
  const read = registry.valueAtScrape;
  read('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  read('process_start_time_seconds', () => performance.timeOrigin / 1000);
  read('process_resident_memory_bytes', () => process.memoryUsage.rss());
  read('nodejs_heap_size_used_bytes', () => process.memoryUsage().heapUsed);
  read('nodejs_external_memory_bytes', () => process.memoryUsage().external);
  read('nodejs_eventloop_active_seconds_total', () => performance.eventLoopUtilization().active / 1000);

  read('nodejs_eventloop_lag_p50_seconds', () => eventLoop.read().p50Ms / 1000);
  read('nodejs_eventloop_lag_p99_seconds', () => eventLoop.read().p99Ms / 1000);
  read('nodejs_eventloop_lag_max_seconds', () => eventLoop.read().maxMs / 1000);
}

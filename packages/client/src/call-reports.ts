import { contentAddressPattern } from './bindings.ts';
import { encodeCalls, type PluginSums } from './encode-calls.ts';
import { ClientError, invalidArgument, isTransient } from './errors.ts';
import type { Emitter } from './events.ts';
import type { Settings } from './options.ts';
import type { Transport, TransportResponse } from './transport.ts';

/** One call of a plugin, for {@link Client.record}. */
export interface PluginCall {
  /** The plugin's id, as in its binding. */
  readonly id: string;
  readonly contentAddress: string;
  readonly durationMs: number;
  /** Default: `false`. */
  readonly hasFailed?: boolean | undefined;
  /** The size of the plugin's memory after the call. */
  readonly memoryBytes?: number | undefined;
}

export interface CallReportsDeps {
  readonly settings: Settings;
  readonly events: Emitter;
  readonly transport: Transport;
}

export interface CallReports {
  /** Whether calls are reported. */
  readonly isOn: boolean;
  /** @throws ClientError `invalid_argument` */
  record(call: PluginCall): void;
  /** Sends what was recorded. Never rejects. */
  close(): Promise<void>;
}

/** How many versions are reported between two requests. Calls of further ones are left out. */
const maxVersions = 1000;

/** How many versions one request reports. */
const versionsPerRequest = 100;

/** How long `close()` waits for the last report. */
const closeTimeoutMs = 5000;

const maxResponseBytes = 64 * 1024;

/** Durations are counted in buckets: four per doubling, from 10 µs on. The last one has no upper bound. */
const firstBoundMs = 0.01;
const lastBucket = 92;

function bucketOf(durationMs: number): number {
  if (durationMs <= firstBoundMs) return 0;
  return Math.min(lastBucket, Math.ceil(4 * Math.log2(durationMs / firstBoundMs)));
}

/** Adds up calls in memory, and reports them from time to time. A report that fails fails no call. */
export function createCallReports({ settings, events, transport }: CallReportsDeps): CallReports {
  const { clock, reportIntervalMs, isOffline } = settings;
  const isOn = reportIntervalMs !== undefined && !isOffline;
  let pending = new Map<string, PluginSums>();
  let startedMs = 0;
  let cancelTimer: (() => void) | undefined;
  let flushing: Promise<void> | undefined;
  let isClosed = false;
  const closing = new AbortController();

  function sumsOf(id: string, contentAddress: string): PluginSums | undefined {
    const key = `${id} ${contentAddress}`;
    const known = pending.get(key);
    if (known !== undefined || pending.size >= maxVersions) return known;
    if (pending.size === 0) startedMs = clock.wallMs();
    const sums: PluginSums = { id, contentAddress, succeeded: new Map(), failed: new Map(), memoryBytes: 0 };
    pending.set(key, sums);
    return sums;
  }

  function schedule(delayMs: number): void {
    if (cancelTimer !== undefined || isClosed) return;
    cancelTimer = clock.setTimer(() => {
      cancelTimer = undefined;
      void flush();
    }, delayMs);
  }

  /** Adds sums that could not be sent to those of the next report. */
  function putBack(unsent: readonly PluginSums[]): void {
    for (const { id, contentAddress, succeeded, failed, memoryBytes } of unsent) {
      const sums = sumsOf(id, contentAddress);
      if (sums === undefined) continue;
      for (const [bucket, count] of succeeded) add(sums.succeeded, bucket, count);
      for (const [bucket, count] of failed) add(sums.failed, bucket, count);
      sums.memoryBytes = Math.max(sums.memoryBytes, memoryBytes);
    }
  }

  async function send(extensionPointId: string, sums: readonly PluginSums[], sentMs: number) {
    const request = {
      operation: 'reports',
      path: `/api/v1/extension-points/${encodeURIComponent(extensionPointId)}/otlp/v1/metrics`,
      headers: { 'content-type': 'application/json' },
      body: encodeCalls(sums, { startedMs: sentMs, endedMs: clock.wallMs() }),
      maxBytes: maxResponseBytes,
      cache: 'no-store',
      attempt: 1,
    } as const;
    const rejected = messageOf(await transport.exchange(request, closing.signal));
    if (rejected !== undefined) fail(rejected);
  }

  function fail(message: string, cause?: unknown): void {
    events.emit('error', { error: new ClientError('report_failed', message, { cause }) });
  }

  async function flushAll(): Promise<void> {
    const taken = [...pending.values()];
    const sentMs = startedMs;
    pending = new Map();
    let retryAfterMs = 0;
    for (const [extensionPointId, ofPoint] of byExtensionPoint(taken)) {
      for (let at = 0; at < ofPoint.length; at += versionsPerRequest) {
        const batch = ofPoint.slice(at, at + versionsPerRequest);
        try {
          await send(extensionPointId, batch, sentMs);
        } catch (cause) {
          const error = cause as ClientError;
          const isRefreshable = error.status === 401 && settings.canRefreshToken;
          if (isTransient(error) || isRefreshable || error.code === 'token_unavailable') putBack(batch);
          retryAfterMs = Math.max(retryAfterMs, error.retryAfterMs ?? 0);
          fail('A report of calls was not accepted', error);
        }
      }
    }
    if (pending.size > 0) schedule(Math.max(reportIntervalMs ?? 0, retryAfterMs));
  }

  function flush(): Promise<void> {
    flushing ??= flushAll().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  return {
    isOn,
    record({ id, contentAddress, durationMs, hasFailed = false, memoryBytes = 0 }: PluginCall): void {
      if (typeof id !== 'string' || !/^[A-Za-z0-9_-]+\//.test(id)) throw invalidArgument("`id` must be a plugin's id");
      if (!contentAddressPattern.test(contentAddress)) {
        throw invalidArgument('`contentAddress` must be a content address');
      }
      if (!(durationMs >= 0)) throw invalidArgument('`durationMs` must be a number ≥ 0');
      if (!(memoryBytes >= 0)) throw invalidArgument('`memoryBytes` must be a number ≥ 0');
      if (!isOn || isClosed) return;
      const sums = sumsOf(id, contentAddress);
      if (sums === undefined) return;
      add(hasFailed ? sums.failed : sums.succeeded, bucketOf(durationMs), 1);
      sums.memoryBytes = Math.max(sums.memoryBytes, memoryBytes);
      schedule(reportIntervalMs);
    },
    async close(): Promise<void> {
      isClosed = true;
      cancelTimer?.();
      const cancel = clock.setTimer(() => closing.abort(), closeTimeoutMs);
      await flushing;
      if (pending.size > 0) await flush();
      cancel();
    },
  };
}

function byExtensionPoint(sums: readonly PluginSums[]): ReadonlyMap<string, readonly PluginSums[]> {
  const groups = new Map<string, PluginSums[]>();
  for (const one of sums) {
    const extensionPointId = one.id.slice(0, one.id.indexOf('/'));
    groups.set(extensionPointId, [...(groups.get(extensionPointId) ?? []), one]);
  }
  return groups;
}

function add(counts: Map<number, number>, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

/** Returns why the server did not use parts of a report. */
function messageOf({ bytes }: TransportResponse): string | undefined {
  try {
    const { partialSuccess } = JSON.parse(new TextDecoder().decode(bytes));
    if (partialSuccess?.rejectedDataPoints === undefined) return undefined;
    return `The server did not use parts of a report of calls: ${String(partialSuccess.errorMessage)}`;
  } catch {
    return undefined; // an empty response is one, too
  }
}

import { hostname } from 'node:os';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import process from 'node:process';
import { newId, type ProcessReport } from '@tenon/protocol';
import type { Readiness, StoreFailure } from '../domain/readiness.ts';
import type { OwnProcess } from '../domain/status/read.ts';
import type { RequestCounts } from '../metrics/count-requests.ts';
import { version } from '../version.ts';
import type { PoolLoad } from '../workers/module-workers.ts';
import { boundsMs, createActivity, type TotalsByKind } from './activity.ts';
import { createWindow } from './window.ts';

/** What knows how this process fares. */
export interface Observed {
  readonly readiness: Readiness;
  readonly draining: { isOn(): boolean };
  readonly contents: { readonly usage: { readonly bytes: number } };
  readonly newsStreams: { readonly acquired: number };
  readonly requests: Pick<RequestCounts, 'connections'> | undefined;
  /** What was counted of requests so far. */
  readonly totals: () => TotalsByKind;
  readonly workers: { readonly load: PoolLoad };
  readonly passwords: { readonly load: PoolLoad };
  readonly startedAtMs: number;
}

/** This process, as it tells of itself. */
export interface OwnProcessWatch extends OwnProcess {
  /** To be called every few seconds, so that it knows what was of late. */
  tick(): void;
  /** Tells of a clock that is wrong, until it is called with nothing. */
  noteClock(kind: 'database' | 'maintenance', warning: string | undefined): void;
  close(): void;
}

/** How often it is looked how late timers are, in milliseconds: what they are late by that anyway is taken off. */
const resolution = 20;

export function watchOwnProcess(observed: Observed): OwnProcessWatch {
  const { draining, readiness, contents, newsStreams, requests, totals, workers, passwords } = observed;
  const now = () => performance.now();
  const activity = createActivity(totals, boundsMs, now);
  const loop = createWindow(performance.eventLoopUtilization(), now);
  const delay = watchDelay();
  const clockWarnings = new Map<string, string>();
  return {
    id: newId('process'),
    node: hostname(),
    pid: process.pid,
    version,
    startedAtMs: observed.startedAtMs,
    async report(): Promise<ProcessReport> {
      const [failures, writeFailures] = await Promise.all([readiness.failures(), readiness.writeFailures()]);
      const { rss, heapUsed } = process.memoryUsage();
      const { seconds, kinds } = activity.recent();
      const { untilMsAgo, minutes } = activity.history();
      const busy = performance.eventLoopUtilization(loop.first().value).utilization;
      return {
        nodeVersion: process.versions.node,
        isReady: failures.length === 0 && !draining.isOn(),
        reasons: [...reasonsOf(failures.length > 0 ? failures : writeFailures), ...clockWarnings.values()],
        isStopping: draining.isOn(),
        memory: { residentBytes: rss, heapBytes: heapUsed, contentCacheBytes: contents.usage.bytes },
        eventLoop: { busy: Math.min(1, Math.max(0, round(busy))), ...delay.read() },
        threads: { modules: loadOf(workers), passwords: loadOf(passwords) },
        connections: requests?.connections ?? 0,
        newsStreams: newsStreams.acquired,
        recent: { seconds: round(seconds), kinds },
        history: { untilMinutesAgo: round(untilMsAgo / 60_000), minutes },
      };
    },
    tick() {
      activity.tick();
      loop.note(performance.eventLoopUtilization());
      delay.tick();
    },
    noteClock(kind, warning) {
      if (warning === undefined) clockWarnings.delete(kind);
      else clockWarnings.set(kind, warning);
    },
    close: () => delay.close(),
  };
}

function loadOf({ load: { running, queued } }: { readonly load: PoolLoad }) {
  return { running, queued };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** How late timers were in this minute and the one before. */
function watchDelay() {
  const delay = monitorEventLoopDelay({ resolution });
  let startedAt = performance.now();
  let before = { delayP99Ms: 0, delayMaxMs: 0 };
  const late = (nanoseconds: number): number => round(Math.max(0, nanoseconds / 1e6 - resolution));
  const current = () =>
    delay.count === 0
      ? { delayP99Ms: 0, delayMaxMs: 0 }
      : { delayP99Ms: late(delay.percentile(99)), delayMaxMs: late(delay.max) };
  return {
    read() {
      const { delayP99Ms, delayMaxMs } = current();
      return {
        delayP99Ms: Math.max(delayP99Ms, before.delayP99Ms),
        delayMaxMs: Math.max(delayMaxMs, before.delayMaxMs),
      };
    },
    tick() {
      delay.enable(); // from the first one on: nobody pays for a process that tells nothing
      if (performance.now() - startedAt < 60_000) return;
      before = current();
      startedAt = performance.now();
      delay.reset();
    },
    close: () => void delay.disable(),
  };
}

function reasonsOf(failures: readonly StoreFailure[]): string[] {
  return failures.map(({ store, reason }) => `the ${store} ${reason}`);
}

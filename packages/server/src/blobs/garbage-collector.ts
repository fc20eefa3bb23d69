import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import { clockGap, maxClockGapMs } from './clock-gap.ts';
import { collect } from './collect.ts';

/** The delay of the first run after the start, unless the interval is shorter. Without it, a server that restarts often never collects. */
const firstRunMs = 60_000;

/** How late a run may be before the clock counts as having jumped; at least this, or the grace period. */
const minJumpMs = 60 * 60 * 1000;

/** https://nodejs.org/api/timers.html#settimeoutcallback-delay-args */
const maxTimerMs = 2 ** 31 - 1;

/** Deletes unreferenced blobs at an interval until it is stopped. Logs errors, and tries again with the next run. */
export function startGarbageCollector(
  deps: Deps,
  config: Pick<Config, 'collectIntervalMs' | 'collectGraceMs'>,
  log: Logger,
) {
  const { collectIntervalMs } = config;
  const controller = new AbortController();
  const { signal } = controller;
  const wait = (ms: number) => sleep(Math.min(ms, maxTimerMs), undefined, { ref: false, signal });

  const run = async (): Promise<void> => {
    await wait(Math.min(firstRunMs, collectIntervalMs));
    for (;;) {
      await runOnce(deps, config, log, signal);
      await wait(collectIntervalMs);
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'gc: stopped');
  });
  return {
    /** Stops it, also in the middle of a run. Resolves when the run has ended. */
    async stop(): Promise<void> {
      controller.abort();
      await ended;
    },
  };
}

async function runOnce(
  deps: Deps,
  { collectIntervalMs, collectGraceMs: graceMs }: Pick<Config, 'collectIntervalMs' | 'collectGraceMs'>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  try {
    // A wrong clock would end all grace periods at once.
    if ((await clockGap(deps)) > maxClockGapMs) return;
    const startedMs = deps.clock();
    // A clock that has jumped since the last run would do the same, and would end the lease of a running backup.
    const last = (await deps.store.read.maintenanceRuns()).find(({ kind }) => kind === 'collect');
    const maxGapMs = collectIntervalMs + Math.max(graceMs, minJumpMs);
    const restartsGrace = last !== undefined && startedMs - last.endedAtMs > maxGapMs;
    const result = await collect(deps, { graceMs, restartsGrace, signal });
    if (result === undefined) return void log.debug('gc: skipped, another process is collecting');
    const { postponed, unknown } = result;
    if (postponed > 0) {
      log.warn({ postponed }, 'gc: kept blobs, too many to delete automatically: run tenon admin gc --force');
    }
    if (unknown > 0) log.warn({ unknown }, 'gc: kept blobs that are not in the database: run tenon admin verify');
    const hasChanges = result.newlyUnused + result.deleted + result.unfinished > 0;
    const durationMs = deps.clock() - startedMs;
    log[hasChanges ? 'info' : 'debug']({ ...result, durationMs }, 'gc: deleted unreferenced blobs');
  } catch (error) {
    if (!signal.aborted) log.error({ err: error }, 'gc: failed');
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Context } from './domain/context.ts';
import { clockGap, maxClockGapMs } from './domain/housekeeping/clock-gap.ts';
import { collect } from './domain/housekeeping/collect.ts';

/** The collector at work in a server. */
export interface Collector {
  /** Ends it, in the middle of a run if need be, and resolves when it has ended. */
  stop(): Promise<void>;
}

/** How long after the start it first runs, unless the interval is shorter: a server that is often started again collects too. */
const firstRunMs = 60_000;

/** How much longer than the interval the time between two runs may be, at least, before the clock is taken to have jumped. */
const shortestJumpMs = 60 * 60 * 1000;

/** The longest time that a timer can wait: https://nodejs.org/api/timers.html#settimeoutcallback-delay-args */
const maxTimerMs = 2 ** 31 - 1;

/** Collects what no version names, now and then, until it is stopped. What goes wrong is logged, and tried again with the next run. */
export function startCollector(
  context: Context,
  config: Pick<Config, 'collectIntervalMs' | 'collectGraceMs'>,
  log: Logger,
): Collector {
  const { collectIntervalMs } = config;
  const controller = new AbortController();
  const { signal } = controller;
  const wait = (ms: number) => sleep(Math.min(ms, maxTimerMs), undefined, { ref: false, signal });

  const run = async (): Promise<void> => {
    await wait(Math.min(firstRunMs, collectIntervalMs));
    for (;;) {
      await runOnce(context, config, log, signal);
      await wait(collectIntervalMs);
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'the collector has ended');
  });
  return {
    async stop() {
      controller.abort();
      await ended;
    },
  };
}

async function runOnce(
  context: Context,
  { collectIntervalMs, collectGraceMs: graceMs }: Pick<Config, 'collectIntervalMs' | 'collectGraceMs'>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  try {
    // A clock that is wrong would end every grace at once.
    if ((await clockGap(context)) > maxClockGapMs) return;
    const startedMs = context.clock();
    // So would one that jumped by more than a grace since the last run, and the lease of a backup with them.
    const last = (await context.store.read.chores()).find(({ kind }) => kind === 'collect');
    const longestMs = collectIntervalMs + Math.max(graceMs, shortestJumpMs);
    const restartsGrace = last !== undefined && startedMs - last.endedAtMs > longestMs;
    const collected = await collect(context, { graceMs, restartsGrace, signal });
    if (collected === undefined) return void log.debug('another process collects');
    const { heldBack, unknown } = collected;
    if (heldBack > 0) {
      log.warn(
        { heldBack },
        'gc: kept unused contents, which are too many to delete unasked: tenon admin collect --force',
      );
    }
    if (unknown > 0) log.warn({ unknown }, 'gc: kept objects that the database does not know: tenon admin verify');
    const hasDone = collected.newlyUnused + collected.deleted + collected.unfinished > 0;
    const durationMs = context.clock() - startedMs;
    log[hasDone ? 'info' : 'debug']({ ...collected, durationMs }, 'collected what no version names');
  } catch (error) {
    if (!signal.aborted) log.error({ err: error }, 'what no version names could not be collected');
  }
}

import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the monitor samples, in milliseconds. It measures the whole interval, so this much is subtracted. */
const resolutionMs = 20;

const minuteMs = 60_000;

/** How late timers were over the last one to two minutes, in milliseconds. */
export interface EventLoopDelays {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export const noDelays: EventLoopDelays = { p50Ms: 0, p99Ms: 0, maxMs: 0 };

export type EventLoopMonitor = ReturnType<typeof monitorEventLoop>;

/** Measures how late timers are, for the metrics and the status. One per process. */
export function monitorEventLoop() {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  let previous = noDelays;
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);
  const current = (): EventLoopDelays =>
    histogram.count === 0
      ? noDelays
      : { p50Ms: late(histogram.percentile(50)), p99Ms: late(histogram.percentile(99)), maxMs: late(histogram.max) };
  const startMinute = (): void => {
    previous = current();
    histogram.reset();
  };
  const timer = setInterval(startMinute, minuteMs);
  timer.unref();
  return {
    read(): EventLoopDelays {
      const { p50Ms, p99Ms, maxMs } = current();
      return { p50Ms, p99Ms: Math.max(p99Ms, previous.p99Ms), maxMs: Math.max(maxMs, previous.maxMs) };
    },
    close(): void {
      clearInterval(timer);
      histogram.disable();
    },
  };
}

import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import process from 'node:process';
import type { PlainName } from './definitions.ts';
import type { Registry } from './registry.ts';

/** How often it is looked how late timers are, in milliseconds: what they are late by that anyway is taken off. */
const resolution = 10;

/** Has the process's own values read at each scrape. @returns what ends it */
export function readProcess(registry: Registry): () => void {
  const read = (name: PlainName, value: () => number): void =>
    registry.atScrape(name, () => [{ labels: {}, value: value() }]);

  read('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  read('process_start_time_seconds', () => performance.timeOrigin / 1000);
  read('process_resident_memory_bytes', () => process.memoryUsage.rss());
  read('nodejs_heap_size_used_bytes', () => process.memoryUsage().heapUsed);
  read('nodejs_external_memory_bytes', () => process.memoryUsage().external);
  read('nodejs_eventloop_active_seconds_total', () => performance.eventLoopUtilization().active / 1000);

  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  const lag = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - resolution / 1000) || 0;
  read('nodejs_eventloop_lag_p50_seconds', () => lag(delay.percentile(50)));
  read('nodejs_eventloop_lag_p99_seconds', () => lag(delay.percentile(99)));
  read('nodejs_eventloop_lag_max_seconds', () => {
    const latest = delay.count === 0 ? 0 : delay.max;
    delay.reset(); // the last of the three that is written
    return lag(latest);
  });
  return () => void delay.disable();
}

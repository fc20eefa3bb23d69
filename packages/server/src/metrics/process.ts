import { performance } from 'node:perf_hooks';
import process from 'node:process';
import type { EventLoopMonitor } from '../ops/event-loop-delay.ts';
import type { PlainName } from './definitions.ts';
import type { Registry } from './registry.ts';

/** Reads the process's own values at each scrape. */
export function readProcess(registry: Registry, eventLoop: EventLoopMonitor): void {
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

  read('nodejs_eventloop_lag_p50_seconds', () => eventLoop.read().p50Ms / 1000);
  read('nodejs_eventloop_lag_p99_seconds', () => eventLoop.read().p99Ms / 1000);
  read('nodejs_eventloop_lag_max_seconds', () => eventLoop.read().maxMs / 1000);
}

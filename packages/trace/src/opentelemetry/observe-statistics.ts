import { dropCounter, functionAttributes, functionCounters, livePagesGauge } from '../function-metrics.ts';
import type { TraceStatistics } from '../span.ts';
import type { BridgeMeter } from './api.ts';
import { bridgeAttributes } from './attributes.ts';

interface Observer {
  observe(instrument: unknown, value: number, attributes: Record<string, unknown>): void;
}

/**
 * Has the host's own meter report calls, failures, times and growth of memory by function, as counters that the SDK reads when it
 * collects, and the pages that memories have, as a gauge. It sees to limits and temporality itself. Durations as a histogram need {@link otlpMetrics}: the API has no histogram that
 * is read.
 *
 * @param source `() => context.statistics()`, of a context started with `statistics: true`
 * @returns ends it
 */
export function observeStatistics(meter: BridgeMeter, source: () => TraceStatistics): () => void {
  const create = ({ name, unit, description }: { name: string; unit: string; description: string }) =>
    meter.createObservableCounter(name, { unit, description });
  const counters = functionCounters.map((each) => ({ read: each.read, instrument: create(each) }));
  const drops = create(dropCounter);
  const pages = meter.createObservableGauge(livePagesGauge.name, {
    unit: livePagesGauge.unit,
    description: livePagesGauge.description,
  });
  const instruments = [...counters.map(({ instrument }) => instrument), drops, pages];

  function observe(observer: Observer): void {
    const { functions, dropped, livePages } = source();
    if (livePages !== undefined) observer.observe(pages, livePages, {});
    for (const each of functions) {
      const attributes = bridgeAttributes(functionAttributes(each));
      for (const { instrument, read } of counters) {
        const value = Number(read(each));
        if (value > 0) observer.observe(instrument, value, attributes);
      }
    }
    for (const [kind, count] of Object.entries(dropped)) if (count > 0) observer.observe(drops, count, { kind });
  }

  meter.addBatchObservableCallback(observe as never, instruments as never);
  return () => meter.removeBatchObservableCallback(observe as never, instruments as never);
}

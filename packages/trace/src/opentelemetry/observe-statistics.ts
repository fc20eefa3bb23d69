import type { Attributes, AttributeValue, FunctionStatistics, TraceStatistics } from '../span.ts';
import type { BridgeMeter } from './api.ts';
import { bridgeAttributes } from './attributes.ts';

/** Units: https://ucum.org */
interface MetricDescription {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
}

/** The counters of each function. */
export const functionCounters: readonly (MetricDescription & {
  readonly read: (statistics: FunctionStatistics) => number;
})[] = [
  {
    name: 'wasm.function.calls',
    unit: '{call}',
    description: 'Completed calls',
    read: ({ calls }) => calls,
  },
  {
    name: 'wasm.function.failures',
    unit: '{call}',
    description: 'Calls that ended with a trap or an exception',
    read: ({ failures }) => failures,
  },
  {
    name: 'wasm.function.total_time',
    unit: 's',
    description: 'Time in the function and its callees; recursive calls count once',
    read: ({ totalTimeNano }) => seconds(totalTimeNano),
  },
  {
    name: 'wasm.function.self_time',
    unit: 's',
    description: 'Time in the function without traced callees',
    read: ({ selfTimeNano }) => seconds(selfTimeNano),
  },
  {
    name: 'wasm.memory.grown',
    unit: '{page}',
    description: 'Pages of 64 KiB of memory growth in the function itself',
    read: ({ grownPages }) => grownPages,
  },
];

export const dropCounter: MetricDescription = {
  name: 'wasm.trace.dropped',
  unit: '{item}',
  description: 'Items that tracing dropped',
};
export const livePagesGauge: MetricDescription = {
  name: 'wasm.memory.pages',
  unit: '{page}',
  description: 'Current pages of 64 KiB of the memories',
};

interface Observer {
  observe(instrument: unknown, value: number, attributes: Record<string, unknown>): void;
}

/**
 * Reports calls, failures, times and memory growth by function as observable counters of the host's meter, and the memories'
 * pages as a gauge. The SDK applies limits and temporality.
 *
 * @param source `() => context.statistics()`, of a context started with `statistics: true`
 * @returns a function that stops reporting
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
        const value = read(each);
        if (value > 0) observer.observe(instrument, value, attributes);
      }
    }
    for (const [kind, count] of Object.entries(dropped)) if (count > 0) observer.observe(drops, count, { kind });
  }

  meter.addBatchObservableCallback(observe as never, instruments as never);
  return () => meter.removeBatchObservableCallback(observe as never, instruments as never);
}

function seconds(nano: bigint): number {
  return Number(nano) / 1e9;
}

/** The attributes that identify a function. */
function functionAttributes({ function: { index, name, rawName } }: FunctionStatistics): Attributes {
  const attributes = new Map<string, AttributeValue>([['code.function.name', name]]);
  if (rawName !== name) attributes.set('wasm.function.raw_name', rawName);
  return attributes.set('wasm.function.index', index);
}

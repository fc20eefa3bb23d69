import type { Attributes, AttributeValue, FunctionStatistics } from './span.ts';

/** What a metric is called and what it says. Units: https://ucum.org */
export interface MetricDescription {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
}

/** What is counted for each function. */
export const functionCounters: readonly (MetricDescription & {
  readonly read: (statistics: FunctionStatistics) => bigint | number;
})[] = [
  {
    name: 'wasm.function.calls',
    unit: '{call}',
    description: 'Calls of the function that have ended',
    read: ({ calls }) => BigInt(calls),
  },
  {
    name: 'wasm.function.failures',
    unit: '{call}',
    description: 'Calls that a trap or an exception ended',
    read: ({ failures }) => BigInt(failures),
  },
  {
    name: 'wasm.function.total_time',
    unit: 's',
    description: 'Time within the function, callees included; recursion counts once',
    read: ({ totalTimeNano }) => seconds(totalTimeNano),
  },
  {
    name: 'wasm.function.self_time',
    unit: 's',
    description: 'Time within the function without the traced calls that it made',
    read: ({ selfTimeNano }) => seconds(selfTimeNano),
  },
  {
    name: 'wasm.memory.grown',
    unit: '{page}',
    description: 'Pages of 64 KiB by which memories grew within the function itself',
    read: ({ grownPages }) => BigInt(grownPages),
  },
];

export const durationHistogram: MetricDescription = {
  name: 'wasm.function.duration',
  unit: 's',
  description: 'How long single calls took, callees included',
};
export const dropCounter: MetricDescription = {
  name: 'wasm.trace.dropped',
  unit: '{item}',
  description: 'What tracing did not keep',
};
export const livePagesGauge: MetricDescription = {
  name: 'wasm.memory.pages',
  unit: '{page}',
  description: 'Pages of 64 KiB that the memories have',
};

export function seconds(nano: bigint): number {
  return Number(nano) / 1e9;
}

/** What tells the points of one function from those of another. */
export function functionAttributes({ function: { index, name, rawName } }: FunctionStatistics): Attributes {
  const attributes = new Map<string, AttributeValue>([['code.function.name', name]]);
  if (rawName !== name) attributes.set('wasm.function.raw_name', rawName);
  return attributes.set('wasm.function.index', index);
}

/** What all functions beyond a limit have together: https://opentelemetry.io/docs/specs/otel/metrics/sdk/#overflow-attribute */
export const overflowAttributes: Attributes = new Map([['otel.metric.overflow', true]]);

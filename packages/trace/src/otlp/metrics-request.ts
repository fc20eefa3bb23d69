import {
  dropCounter,
  durationHistogram,
  functionAttributes,
  functionCounters,
  livePagesGauge,
  type MetricDescription,
  overflowAttributes,
  seconds,
} from '../function-metrics.ts';
import type { FunctionStatistics, TraceStatistics } from '../span.ts';
import { attributeMessages } from './attributes.ts';
import type {
  HistogramDataPoint,
  KeyValueMessage,
  MetricMessage,
  MetricsRequest,
  NumberDataPoint,
} from './messages.ts';
import { type ResourceAttributes, resourceMessage, scopeMessage } from './resource.ts';

/** Whether numbers count from the start, or from the last time: https://opentelemetry.io/docs/specs/otel/metrics/data-model/#temporality */
export type Temporality = 'cumulative' | 'delta';

/** What is to be sent, and of which time. */
export interface MetricsSnapshot {
  readonly statistics: TraceStatistics;
  /** When it was taken, in nanoseconds since 1970. */
  readonly timeUnixNano: bigint;
  readonly temporality: Temporality;
  /** Pages of 64 KiB that the memories have now; `undefined` where nobody knows. */
  readonly livePages?: number | undefined;
  readonly resource?: ResourceAttributes | undefined;
}

const temporalities = { delta: 1, cumulative: 2 } as const;

/** The times and temporality that all points share. */
interface Frame {
  readonly startTimeUnixNano: bigint;
  readonly timeUnixNano: bigint;
  readonly temporality: Temporality;
}

/** A function with the attributes of its points; without a function, the sum of those that were too many. */
interface Row {
  readonly statistics: FunctionStatistics;
  readonly attributes: readonly KeyValueMessage[];
}

/** The request that takes metrics to a collector: `ExportMetricsServiceRequest`. */
export function metricsRequest(
  snapshot: MetricsSnapshot,
  isOverflow: (statistics: FunctionStatistics) => boolean,
): MetricsRequest {
  const { statistics, timeUnixNano, temporality, livePages, resource } = snapshot;
  const { startTimeUnixNano, functions, dropped } = statistics;
  const end = timeUnixNano > startTimeUnixNano ? timeUnixNano : startTimeUnixNano;
  const frame: Frame = { startTimeUnixNano, timeUnixNano: end, temporality };
  const rows = functions.map(
    (each): Row => ({
      statistics: each,
      attributes: attributeMessages(isOverflow(each) ? overflowAttributes : functionAttributes(each)),
    }),
  );
  const drops = Object.entries(dropped).map(
    ([kind, count]): Point => [attributeMessages(new Map([['kind', kind]])), BigInt(count)],
  );
  const metrics = [
    ...functionCounters.map((each) =>
      counter(
        frame,
        each,
        rows.map((row): Point => [row.attributes, each.read(row.statistics)]),
      ),
    ),
    durations(frame, rows),
    counter(frame, dropCounter, drops),
    ...(livePages === undefined ? [] : [gauge(frame, livePagesGauge, livePages)]),
  ];
  const scopeMetrics = [{ scope: scopeMessage, metrics: metrics.filter(hasPoints) }];
  return { resourceMetrics: [{ resource: resourceMessage(resource), scopeMetrics }] };
}

type Point = readonly [attributes: readonly KeyValueMessage[], value: bigint | number];

/** Points without anything to count say nothing that their absence does not. */
function counter(
  frame: Frame,
  { name, unit, description }: MetricDescription,
  points: readonly Point[],
): MetricMessage {
  const { startTimeUnixNano, timeUnixNano, temporality } = frame;
  const dataPoints = points
    .filter(([, value]) => value > 0)
    .map(([attributes, value]): NumberDataPoint => {
      const number = typeof value === 'bigint' ? { asInt: value } : { asDouble: value };
      return { startTimeUnixNano, timeUnixNano, ...number, attributes };
    });
  const sum = { dataPoints, aggregationTemporality: temporalities[temporality], isMonotonic: true };
  return { name, unit, description, sum };
}

function gauge({ timeUnixNano }: Frame, description: MetricDescription, value: number): MetricMessage {
  return {
    ...description,
    gauge: { dataPoints: [{ timeUnixNano, asInt: BigInt(Math.trunc(value)), attributes: [] }] },
  };
}

function durations({ startTimeUnixNano, timeUnixNano, temporality }: Frame, rows: readonly Row[]): MetricMessage {
  const dataPoints = rows
    .filter(({ statistics }) => statistics.calls > 0)
    .map(({ statistics, attributes }): HistogramDataPoint => {
      const { bounds, bucketCounts, sumNano } = statistics.durations;
      return {
        startTimeUnixNano,
        timeUnixNano,
        count: BigInt(bucketCounts.reduce((sum, each) => sum + each, 0)),
        sum: seconds(sumNano),
        bucketCounts: bucketCounts.map(BigInt),
        explicitBounds: bounds.map((bound) => bound / 1e9),
        attributes,
        // The longest of the time since the last report is not known.
        ...(temporality === 'cumulative' && { max: seconds(statistics.maxTimeNano) }),
      };
    });
  return { ...durationHistogram, histogram: { dataPoints, aggregationTemporality: temporalities[temporality] } };
}

function hasPoints({ sum, histogram, gauge }: MetricMessage): boolean {
  return (sum ?? histogram ?? gauge)?.dataPoints.length !== 0;
}

/** The calls of a version since the last report. */
export interface PluginSums {
  readonly id: string;
  readonly contentAddress: string;
  /** The numbers of calls, by the bucket of their duration. */
  readonly succeeded: Map<number, number>;
  readonly failed: Map<number, number>;
  memoryBytes: number;
}

interface Period {
  readonly startedMs: number;
  readonly endedMs: number;
}

/** The bucket without an upper bound. */
const lastBucket = 92;

const upperBoundSeconds = (bucket: number): number => 10e-6 * 2 ** (bucket / 4);

/** Encodes calls as OTLP metrics in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
export function encodeCalls(sums: readonly PluginSums[], { startedMs, endedMs }: Period): string {
  const time = { startTimeUnixNano: nanoseconds(startedMs), timeUnixNano: nanoseconds(endedMs) };
  const calls = sums.flatMap((one) => [
    ...histogramPoint(one.succeeded, attributesOf(one), time),
    ...histogramPoint(one.failed, [...attributesOf(one), attribute('error.type', '_OTHER')], time),
  ]);
  const memories = sums
    .filter(({ memoryBytes }) => memoryBytes > 0)
    .map((one) => ({ attributes: attributesOf(one), timeUnixNano: time.timeUnixNano, asInt: String(one.memoryBytes) }));
  const metrics = [
    { name: 'tenon.plugin.call.duration', unit: 's', histogram: { aggregationTemporality: 1, dataPoints: calls } },
    ...(memories.length > 0 ? [{ name: 'tenon.plugin.memory', unit: 'By', gauge: { dataPoints: memories } }] : []),
  ];
  return JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ scope: { name: '@tenon/client' }, metrics }] }] });
}

/** A point with only the bounds that its calls need; none without calls. */
function histogramPoint(
  counts: ReadonlyMap<number, number>,
  attributes: readonly object[],
  time: Readonly<Record<string, string>>,
): object[] {
  if (counts.size === 0) return [];
  const buckets = [...counts.keys()];
  const first = Math.max(0, Math.min(...buckets) - 1);
  const last = Math.min(lastBucket - 1, Math.max(...buckets));
  const bounded = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const bucketCounts = [...bounded, lastBucket].map((bucket) => String(counts.get(bucket) ?? 0));
  const count = buckets.reduce((sum, bucket) => sum + (counts.get(bucket) ?? 0), 0);
  return [{ attributes, ...time, count: String(count), explicitBounds: bounded.map(upperBoundSeconds), bucketCounts }];
}

function attributesOf({ id, contentAddress }: PluginSums): readonly object[] {
  return [attribute('tenon.plugin.id', id), attribute('tenon.plugin.content_address', contentAddress)];
}

function attribute(key: string, stringValue: string): object {
  return { key, value: { stringValue } };
}

const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms)) * 1_000_000n);

import {
  callDurationMetric,
  contentAddressAttribute,
  errorTypeAttribute,
  isContentAddress,
  pluginIdAttribute,
  pluginMemoryMetric,
} from '@tenon/protocol';
import type { CallSums } from '../db/call-report-records.ts';
import { addDurations, fromHistogram } from './durations.ts';

/*
 * Reads the metrics of an OTLP request in JSON. OTLP names its fields in lower camel case, writes 64-bit integers as strings, and lets
 * receivers ignore unknown fields: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
 */

/** The reported calls of one version of a plugin. */
export interface ReportedCalls extends CallSums {
  readonly pluginId: string;
  readonly contentAddress: string;
  /** How many data points they come from. */
  readonly dataPoints: number;
}

/** Counts data points that are not used, and says why for the first one. */
export class RejectedPoints {
  count = 0;
  message = '';

  add(count: number, message: string): void {
    this.count += count;
    this.message ||= message;
  }
}

export interface ReadReports {
  readonly reported: readonly ReportedCalls[];
  readonly rejected: RejectedPoints;
}

/** How many versions one request may report. */
export const maxReportedVersions = 500;

/** The maximum number of bounds of a histogram. */
const maxBounds = 250;

/** The maximum number of calls of a data point. */
const maxCallsPerPoint = 100_000_000;

const delta = 1;

/** `NO_RECORDED_VALUE` of OTLP's `DataPointFlags`. */
const noRecordedValue = 1;

type Fields = Readonly<Record<string, unknown>>;

/** A part of the request that can't be used. */
class Fault extends Error {
  override readonly name = 'Fault';
}

/** Reads what a request reports. Never throws: data points that can't be used are counted. */
export function readOtlp(request: unknown): ReadReports {
  const rejected = new RejectedPoints();
  const sums = new Map<string, ReportedCalls>();
  for (const [resource, resourcePath] of itemsOf(request, 'resourceMetrics', '', rejected)) {
    for (const [scope, scopePath] of itemsOf(resource, 'scopeMetrics', resourcePath, rejected)) {
      for (const [metric, path] of itemsOf(scope, 'metrics', scopePath, rejected)) {
        readMetric(metric, path, sums, rejected);
      }
    }
  }
  return { reported: [...sums.values()], rejected };
}

function readMetric(metric: unknown, path: string, sums: Map<string, ReportedCalls>, rejected: RejectedPoints): void {
  const fields = fieldsOf(metric);
  const { name } = fields;
  const kind = name === callDurationMetric ? 'histogram' : name === pluginMemoryMetric ? 'gauge' : undefined;
  if (kind === undefined) {
    rejected.add(countPoints(fields), `${path}: only "${callDurationMetric}" and "${pluginMemoryMetric}" are used`);
    return;
  }
  const data = fieldsOf(fields[kind]);
  const fault = metricFault(fields, data, kind);
  if (fault !== undefined) {
    rejected.add(countPoints(fields), `${path}: ${fault}`);
    return;
  }
  for (const [point, pointPath] of itemsOf(data, 'dataPoints', `${path}.${kind}`, rejected)) {
    try {
      if (hasRecordedValue(point)) add(sums, kind === 'histogram' ? readCalls(point) : readMemory(point));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      rejected.add(1, `${pointPath}: ${error.message}`);
    }
  }
}

function metricFault({ unit, ...fields }: Fields, data: Fields, kind: 'histogram' | 'gauge'): string | undefined {
  const expected = kind === 'histogram' ? 's' : 'By';
  if (fields[kind] === undefined) {
    return `"${fields.name}" must be a ${kind === 'histogram' ? 'histogram with explicit bounds' : 'gauge'}`;
  }
  if (unit !== undefined && unit !== '' && unit !== expected)
    return `"unit" must be "${expected}" (got ${quoted(unit)})`;
  if (kind === 'histogram' && data.aggregationTemporality !== delta) {
    return `"aggregationTemporality" must be 1, delta (got ${quoted(data.aggregationTemporality)}); set OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta`;
  }
  return undefined;
}

function hasRecordedValue(point: unknown): boolean {
  const { flags } = fieldsOf(point);
  return !(typeof flags === 'number' && (flags & noRecordedValue) !== 0);
}

function readCalls(point: unknown): ReportedCalls {
  const { attributes, count, bucketCounts, explicitBounds } = fieldsOf(point);
  const { key, hasFailed } = readAttributes(attributes);
  const calls = readCount('count', count);
  const bounds = readBounds(explicitBounds);
  const counts = Array.isArray(bucketCounts) ? bucketCounts : [];
  if (counts.length !== bounds.length + 1) {
    throw new Fault(
      `"bucketCounts" must have one count more than "explicitBounds" (got ${counts.length} counts and ${bounds.length} bounds)`,
    );
  }
  const numbers = counts.map((one) => readCount('bucketCounts', one));
  const sum = numbers.reduce((total, one) => total + one, 0);
  if (sum !== calls) throw new Fault(`"count" must be the sum of "bucketCounts" (got ${calls} and ${sum})`);
  const durations = fromHistogram(bounds, numbers);
  return { ...key, calls, errors: hasFailed ? calls : 0, durations, memoryBytes: null, dataPoints: 1 };
}

function readMemory(point: unknown): ReportedCalls {
  const { attributes, asInt, asDouble } = fieldsOf(point);
  const { key } = readAttributes(attributes);
  const bytes = typeof asInt === 'string' && /^\d{1,16}$/.test(asInt) ? Number(asInt) : (asInt ?? asDouble);
  if (typeof bytes !== 'number' || !(bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER)) {
    throw new Fault(`"asInt" or "asDouble" must be a number of bytes (got ${quoted(asInt ?? asDouble)})`);
  }
  return { ...key, calls: 0, errors: 0, durations: {}, memoryBytes: Math.round(bytes), dataPoints: 1 };
}

function add(sums: Map<string, ReportedCalls>, point: ReportedCalls): void {
  const id = `${point.pluginId} ${point.contentAddress}`;
  const known = sums.get(id);
  if (known === undefined && sums.size >= maxReportedVersions) {
    throw new Fault(`a request may report at most ${maxReportedVersions} versions`);
  }
  sums.set(id, known === undefined ? point : { ...addSums(known, point), dataPoints: known.dataPoints + 1 });
}

/** Adds the sums of two reports. The other fields are those of the first one. */
export function addSums<T extends CallSums>(a: T, b: CallSums): T {
  return {
    ...a,
    calls: a.calls + b.calls,
    errors: a.errors + b.errors,
    durations: addDurations(a.durations, b.durations),
    memoryBytes: a.memoryBytes === null ? b.memoryBytes : Math.max(a.memoryBytes, b.memoryBytes ?? 0),
  };
}

function readAttributes(attributes: unknown) {
  let [pluginId, contentAddress, hasFailed] = ['', '', false];
  for (const attribute of Array.isArray(attributes) ? attributes : []) {
    const { key, value } = fieldsOf(attribute);
    const { stringValue } = fieldsOf(value);
    if (key === errorTypeAttribute && stringValue !== '') hasFailed = true;
    if (typeof stringValue !== 'string') continue;
    if (key === pluginIdAttribute) pluginId = stringValue;
    if (key === contentAddressAttribute) contentAddress = stringValue;
  }
  if (pluginId === '') throw new Fault(`the attribute "${pluginIdAttribute}" is required`);
  if (!isContentAddress(contentAddress)) {
    throw new Fault(
      `the attribute "${contentAddressAttribute}" must be a content address (got ${quoted(contentAddress)})`,
    );
  }
  return { key: { pluginId, contentAddress }, hasFailed };
}

function readBounds(value: unknown): readonly number[] {
  const bounds: readonly unknown[] = Array.isArray(value) ? value : [];
  if (bounds.length === 0) throw new Fault('"explicitBounds" must have a bound');
  if (bounds.length > maxBounds)
    throw new Fault(`"explicitBounds" must have at most ${maxBounds} bounds (got ${bounds.length})`);
  let last = Number.NEGATIVE_INFINITY;
  for (const bound of bounds) {
    if (typeof bound !== 'number' || !Number.isFinite(bound) || bound <= last) {
      throw new Fault(`"explicitBounds" must be growing finite numbers (got ${quoted(bound)})`);
    }
    last = bound;
  }
  return bounds as readonly number[];
}

function readCount(name: string, value: unknown): number {
  const count = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= maxCallsPerPoint) return count;
  throw new Fault(`"${name}" must be an integer from 0 to ${maxCallsPerPoint} (got ${quoted(value)})`);
}

/** The elements of a field that is a list, with their paths. Another value counts as one rejected data point. */
function* itemsOf(parent: unknown, name: string, path: string, rejected: RejectedPoints): Generator<[unknown, string]> {
  const value = fieldsOf(parent)[name];
  const full = path === '' ? name : `${path}.${name}`;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) yield [item, `${full}[${at}]`];
  } else if (value != null) rejected.add(1, `${full}: must be a list`);
}

function countPoints(metric: Fields): number {
  return Object.values(metric).reduce<number>((sum, data) => {
    const { dataPoints } = fieldsOf(data);
    return sum + (Array.isArray(dataPoints) ? dataPoints.length : 0);
  }, 0);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Quotes the beginning of a value. */
function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

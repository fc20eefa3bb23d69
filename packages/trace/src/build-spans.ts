import { type CallStack, type RootTrace, recordColumn, recordStride } from './call-stack.ts';
import { toNano } from './clock.ts';
import type { FunctionNames } from './names.ts';
import type { Attributes, AttributeValue, Span, SpanEvent } from './span.ts';
import type { SpanDetails } from './span-details.ts';

export interface SpanBuilding {
  readonly names: FunctionNames;
  readonly spanId: () => string;
  /** Nanoseconds since 1970 at which the clock stood at 0. */
  readonly originUnixNano: bigint;
  readonly rootAttributes: Attributes;
}

/** Makes spans of the records of a root that has ended: parents before children, by start. */
export function buildSpans(stack: CallStack, trace: RootTrace, building: SpanBuilding): Span[] {
  const { records, recordCount } = stack;
  const parents = parentRows(records, recordCount);
  const times = spanTimes(records, parents);
  const startUnixNano =
    building.originUnixNano + toNano(records[(recordCount - 1) * recordStride + recordColumn.start] as number);
  const root: BuiltRoot = { stack, trace, building, times, startUnixNano };
  const ids: string[] = [];
  return preorder(parents).map((row) => {
    const spanId = stack.recordDetails.get(row * recordStride)?.spanId ?? building.spanId();
    ids[row] = spanId;
    return describeRecord(root, row, spanId, ids[parents[row] as number]);
  });
}

interface BuiltRoot {
  readonly stack: CallStack;
  readonly trace: RootTrace;
  readonly building: SpanBuilding;
  readonly times: SpanTimes;
  /** Nanoseconds since 1970. */
  readonly startUnixNano: bigint;
}

/** For each record the row of the span around it; -1 for the root, which ends last. */
function parentRows(records: Float64Array, count: number): Int32Array {
  const rowOf = new Int32Array(count + 1);
  for (let row = 0; row < count; row++) rowOf[records[row * recordStride + recordColumn.id] as number] = row;
  const parents = new Int32Array(count);
  for (let row = 0; row < count - 1; row++) {
    parents[row] = rowOf[records[row * recordStride + recordColumn.parentId] as number] as number;
  }
  parents[count - 1] = -1;
  return parents;
}

/** Rows of records, each before those of the spans in it, which are in the order of their starts. */
function preorder(parents: Int32Array): number[] {
  const firstChild = new Int32Array(parents.length).fill(-1);
  const nextSibling = new Int32Array(parents.length).fill(-1);
  for (let row = parents.length - 2; row >= 0; row--) {
    const parent = parents[row] as number;
    nextSibling[row] = firstChild[parent] as number;
    firstChild[parent] = row;
  }
  const order: number[] = [];
  const waiting = [parents.length - 1];
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    order.push(row);
    if (nextSibling[row] !== -1) waiting.push(nextSibling[row] as number);
    if (firstChild[row] !== -1) waiting.push(firstChild[row] as number);
  }
  return order;
}

/** Whole nanoseconds since the root's start, by row: as numbers, which hold those of a hundred days exactly. */
interface SpanTimes {
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly self: Float64Array;
}

function spanTimes(records: Float64Array, parents: Int32Array): SpanTimes {
  const { length } = parents;
  const rootStart = records[(length - 1) * recordStride + recordColumn.start] as number;
  const times = { start: new Float64Array(length), end: new Float64Array(length), self: new Float64Array(length) };
  for (let row = 0; row < length; row++) {
    const at = row * recordStride;
    const start = Math.round(((records[at + recordColumn.start] as number) - rootStart) * 1e6);
    const end = Math.round(((records[at + recordColumn.end] as number) - rootStart) * 1e6);
    times.start[row] = start;
    times.end[row] = end;
    times.self[row] = (times.self[row] as number) + end - start;
    const parent = parents[row] as number;
    if (parent !== -1) times.self[parent] = (times.self[parent] as number) - (end - start);
  }
  return times;
}

const noAttributes: Attributes = new Map();
const noEvents: readonly SpanEvent[] = Object.freeze([]);
const nothingDropped = Object.freeze({ events: 0, attributes: 0 });
const succeeded = Object.freeze({ code: 'unset', message: '' } as const);

function describeRecord(
  { stack: { records, recordDetails }, trace, building, times, startUnixNano }: BuiltRoot,
  row: number,
  spanId: string,
  parentId: string | undefined,
): Span {
  const { names, originUnixNano, rootAttributes } = building;
  const { traceId, traceFlags, traceState, parentSpanId } = trace;
  const at = row * recordStride;
  const details = recordDetails.get(at);
  const func = records[at + recordColumn.func] as number;
  const traced = Number.isNaN(func) ? undefined : names.describe(func >>> 0);
  const start = times.start[row] as number;
  const end = times.end[row] as number;
  const foldedTime = Math.round((records[at + recordColumn.foldedTime] as number) * 1e6);
  const attributes = details?.attributes ?? noAttributes;
  return {
    traceId,
    spanId,
    parentSpanId: parentId ?? parentSpanId,
    traceFlags,
    traceState,
    name: traced?.name ?? details?.name ?? '',
    function: traced,
    startTimeUnixNano: startUnixNano + BigInt(start),
    endTimeUnixNano: startUnixNano + BigInt(end),
    // A manual span may begin in one call and end in another, and overlap with both.
    selfTimeNano: BigInt(Math.max(0, times.self[row] as number)),
    folded: {
      calls: records[at + recordColumn.foldedCalls] as number,
      timeNano: BigInt(Math.max(0, Math.min(foldedTime, end - start))),
    },
    grownPages: records[at + recordColumn.pages] as number,
    status: details?.failure === undefined ? succeeded : { code: 'error', message: details.failure },
    attributes: parentId === undefined ? withRootAttributes(attributes, rootAttributes) : attributes,
    events: details === undefined || details.events.length === 0 ? noEvents : describeEvents(details, originUnixNano),
    dropped:
      details === undefined ? nothingDropped : { events: details.droppedEvents, attributes: details.droppedAttributes },
  };
}

function describeEvents({ events }: SpanDetails, originUnixNano: bigint): SpanEvent[] {
  return events.map(({ name, time, attributes }) => ({
    name,
    timeUnixNano: originUnixNano + toNano(time),
    attributes,
  }));
}

/** The plugin's attributes take precedence over the host's. */
function withRootAttributes(own: Attributes, given: Attributes): Attributes {
  if (given.size === 0) return own;
  return own.size === 0 ? given : new Map<string, AttributeValue>([...given, ...own]);
}

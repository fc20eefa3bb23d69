import { toNano } from './clock.ts';
import type { Extra } from './extra.ts';
import { type Fiber, type RootTrace, recordColumn, recordStride } from './fiber.ts';
import type { FunctionNames } from './names.ts';
import type { Attributes, AttributeValue, Span, SpanEvent } from './span.ts';

export interface SpanBuilding {
  readonly names: FunctionNames;
  readonly spanId: () => string;
  /** Nanoseconds since 1970 at which the clock stood at 0. */
  readonly originUnixNano: bigint;
  readonly rootAttributes: Attributes;
}

/** A span whose parent's self time is still being counted. */
type Draft = { -readonly [Key in keyof Span]: Span[Key] };

/** Makes spans of the records of a root that has ended: parents before children, by start. */
export function buildSpans(fiber: Fiber, trace: RootTrace, building: SpanBuilding): Span[] {
  const { records, recordCount } = fiber;
  const order = preorder(records, recordCount);
  const drafts = new Map<number, Draft>();
  return order.map((row) => {
    const draft = describeRecord(fiber, row, trace, building);
    const id = records[row * recordStride + recordColumn.id] as number;
    const parent = drafts.get(records[row * recordStride + recordColumn.parentId] as number);
    drafts.set(id, draft);
    if (parent === undefined) {
      draft.parentSpanId = trace.parentSpanId;
      draft.attributes = withRootAttributes(draft.attributes, building.rootAttributes);
    } else {
      draft.parentSpanId = parent.spanId;
      parent.selfTimeNano = atLeastZero(parent.selfTimeNano - (draft.endTimeUnixNano - draft.startTimeUnixNano));
    }
    return draft;
  });
}

/** Rows of records, each before those of the spans in it. They come in the order of their ends, the root last. */
function preorder(records: Float64Array, count: number): number[] {
  const rowOf = new Int32Array(count + 1);
  for (let row = 0; row < count; row++) rowOf[records[row * recordStride + recordColumn.id] as number] = row;
  const firstChild = new Int32Array(count).fill(-1);
  const nextSibling = new Int32Array(count).fill(-1);
  for (let row = count - 2; row >= 0; row--) {
    const parent = rowOf[records[row * recordStride + recordColumn.parentId] as number] as number;
    nextSibling[row] = firstChild[parent] as number;
    firstChild[parent] = row;
  }
  const order: number[] = [];
  const waiting = count > 0 ? [count - 1] : [];
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    order.push(row);
    if (nextSibling[row] !== -1) waiting.push(nextSibling[row] as number);
    if (firstChild[row] !== -1) waiting.push(firstChild[row] as number);
  }
  return order;
}

const noAttributes: Attributes = new Map();
const noEvents: readonly SpanEvent[] = Object.freeze([]);
const nothingDropped = Object.freeze({ events: 0, attributes: 0 });
const succeeded = Object.freeze({ code: 'unset', message: '' } as const);

function describeRecord(fiber: Fiber, row: number, trace: RootTrace, building: SpanBuilding): Draft {
  const { names, spanId, originUnixNano } = building;
  const at = row * recordStride;
  const value = (place: number) => fiber.records[at + place] as number;
  const extra = fiber.recordExtras.get(row);
  const func = value(recordColumn.func);
  const traced = Number.isNaN(func) ? undefined : names.describe(func >>> 0);
  const start = originUnixNano + toNano(value(recordColumn.start));
  const end = originUnixNano + toNano(value(recordColumn.end));
  const left = toNano(value(recordColumn.leftTime));
  return {
    traceId: trace.traceId,
    spanId: extra?.spanId ?? spanId(),
    parentSpanId: undefined,
    traceFlags: trace.traceFlags,
    traceState: trace.traceState,
    name: traced?.name ?? extra?.name ?? '',
    function: traced,
    startTimeUnixNano: start,
    endTimeUnixNano: end,
    selfTimeNano: end - start,
    leftOut: { calls: value(recordColumn.leftCalls), timeNano: left < end - start ? atLeastZero(left) : end - start },
    grownPages: value(recordColumn.pages),
    status: extra?.failure === undefined ? succeeded : { code: 'error', message: extra.failure },
    attributes: extra?.attributes ?? noAttributes,
    events: extra === undefined || extra.events.length === 0 ? noEvents : describeEvents(extra, originUnixNano),
    dropped:
      extra === undefined ? nothingDropped : { events: extra.droppedEvents, attributes: extra.droppedAttributes },
  };
}

function describeEvents({ events }: Extra, originUnixNano: bigint): SpanEvent[] {
  return events.map(({ name, time, attributes }) => ({
    name,
    timeUnixNano: originUnixNano + toNano(time),
    attributes,
  }));
}

/** What the plugin's author said of a span counts more than what the host says of every root. */
function withRootAttributes(own: Attributes, given: Attributes): Attributes {
  if (given.size === 0) return own;
  return own.size === 0 ? given : new Map<string, AttributeValue>([...given, ...own]);
}

function atLeastZero(nano: bigint): bigint {
  return nano < 0n ? 0n : nano;
}

import type { Adaptive } from './adaptive.ts';
import {
  type CallStack,
  column,
  flag,
  growFrames,
  growRecords,
  recordColumn,
  recordStride,
  stride,
} from './call-stack.ts';
import type { FunctionCounters } from './function-counters.ts';
import type { TraceLimits } from './options.ts';
import { createDetails, foldDetails, type SpanDetails } from './span-details.ts';

/** The dependencies of recording. */
export interface RecordingContext {
  readonly limits: TraceLimits;
  /** Calls shorter than this get no span. Milliseconds. */
  readonly minDurationMs: number;
  readonly dropped: { spans: number; depth: number; events: number; attributes: number; unmatched: number };
  readonly counters: FunctionCounters | undefined;
  /** `undefined` if each call is traced. */
  readonly adaptive: Adaptive | undefined;
  /** Makes spans of the records of an ended root. */
  readonly endRoot: (stack: CallStack) => void;
}

export function detailsAt(stack: CallStack, at: number): SpanDetails {
  let details = stack.spanDetails.get(at);
  if (details === undefined) {
    details = createDetails();
    stack.spanDetails.set(at, details);
    setFlag(stack, at, flag.needsSlowExit);
  }
  return details;
}

export function setFlag({ frames }: CallStack, at: number, bit: number): void {
  frames[at + column.flags] = (frames[at + column.flags] as number) | bit;
}

export function hasFlag({ frames }: CallStack, at: number, bit: number): boolean {
  return ((frames[at + column.flags] as number) & bit) !== 0;
}

/** Opens a frame of a function, or with `NaN` of a manual span. `false` if the stack is full, which is counted. */
export function openFrame(
  stack: CallStack,
  { limits, dropped }: RecordingContext,
  func: number,
  start: number,
  bits: number,
): boolean {
  const at = stack.top + stride;
  if (at >= stack.frames.length && !growFrames(stack, limits.depth + 1)) {
    stack.tooDeep++;
    dropped.depth++;
    setFlag(stack, stack.top, flag.needsSlowExit);
    return false;
  }
  const { frames } = stack;
  frames[at + column.func] = func;
  frames[at + column.start] = start;
  if (bits !== 0) setFlag(stack, at, bits);
  stack.top = at;
  return true;
}

/** Ends a call without a frame. `false` if all open calls have one. */
export function leaveTooDeep(stack: CallStack): boolean {
  if (stack.tooDeep === 0) return false;
  stack.tooDeep--;
  return true;
}

/** Ends the innermost frame: records it as a span, or folds it into its parent. */
export function closeFrame(stack: CallStack, context: RecordingContext, end: number, failure?: string): void {
  const { frames, top } = stack;
  if (failure !== undefined) detailsAt(stack, top).failure = failure;
  const duration = Math.max(end - (frames[top + column.start] as number), 0);
  countCall(stack, context, duration, failure !== undefined);
  if (becomesSpan(stack, context, duration)) {
    context.adaptive?.onSpan(frames[top + column.func] as number, end);
    record(stack, end, duration);
  } else fold(stack, context, duration);
  frames.fill(0, top + column.foldedCalls, top + stride);
  stack.spanDetails.delete(top);
  stack.top = top - stride;
  if (top !== stride) return;
  frames[stride + column.flags] = flag.root;
  context.endRoot(stack);
}

function countCall(
  { frames, top }: CallStack,
  { counters }: RecordingContext,
  duration: number,
  hasFailed: boolean,
): void {
  const func = frames[top + column.func] as number;
  if (counters === undefined || Number.isNaN(func)) return;
  const within = (frames[top + column.spanTime] as number) + (frames[top + column.foldedTime] as number);
  counters.exit(func, duration, duration - within);
  if (hasFailed) counters.fail(func);
}

/** All ancestors of a span become spans, so a frame with an id always does. */
function becomesSpan(
  stack: CallStack,
  { limits, minDurationMs, dropped }: RecordingContext,
  duration: number,
): boolean {
  const { top } = stack;
  if (top === stride || stack.frames[top + column.id] !== 0) return true;
  if (duration < minDurationMs && !hasFlag(stack, top, flag.retained)) return false;
  // Its ancestors need room as well.
  if (stack.recordCount + top / stride <= limits.spans) return true;
  dropped.spans++;
  return false;
}

function record(stack: CallStack, end: number, duration: number): void {
  const { frames, top, spanDetails } = stack;
  const parent = top - stride;
  const id = idAt(stack, top);
  const parentId = parent === 0 ? 0 : idAt(stack, parent);
  const at = stack.recordCount * recordStride;
  if (at >= stack.records.length) growRecords(stack);
  const { records } = stack;
  const start = frames[top + column.start] as number;
  records[at + recordColumn.start] = start;
  records[at + recordColumn.end] = end > start ? end : start;
  records[at + recordColumn.func] = frames[top + column.func] as number;
  records[at + recordColumn.foldedCalls] = frames[top + column.foldedCalls] as number;
  records[at + recordColumn.foldedTime] = frames[top + column.foldedTime] as number;
  records[at + recordColumn.pages] = frames[top + column.pages] as number;
  records[at + recordColumn.id] = id;
  records[at + recordColumn.parentId] = parentId;
  const details = spanDetails.get(top);
  if (details !== undefined) stack.recordDetails.set(at, details);
  stack.recordCount++;
  if (parent === 0) return;
  frames[parent + column.spanTime] = (frames[parent + column.spanTime] as number) + duration;
  setFlag(stack, parent, flag.needsSlowExit);
}

export function idAt(stack: CallStack, at: number): number {
  const { frames } = stack;
  if (frames[at + column.id] === 0) frames[at + column.id] = ++stack.lastId;
  return frames[at + column.id] as number;
}

function fold(stack: CallStack, { limits, dropped }: RecordingContext, duration: number): void {
  const { frames, top, spanDetails } = stack;
  const below = top - stride;
  const add = (place: number, amount: number) => {
    frames[below + place] = (frames[below + place] as number) + amount;
  };
  add(column.foldedCalls, 1 + (frames[top + column.foldedCalls] as number));
  add(column.foldedTime, duration);
  const pages = frames[top + column.pages] as number;
  if (pages !== 0) {
    add(column.pages, pages);
    setFlag(stack, below, flag.needsSlowExit);
  }
  const details = spanDetails.get(top);
  if (details !== undefined && details.events.length + details.droppedEvents > 0) {
    dropped.events += foldDetails(details, detailsAt(stack, below), limits.events);
  }
}

/** How unclosed calls end. */
export interface CloseReason {
  /** The failure; `undefined` if they succeeded. */
  readonly failure: string | undefined;
  /** Whether the module should have reported their ends. */
  readonly isUnmatched: boolean;
}

const unreported: CloseReason = { failure: 'the end of this call was not reported', isUnmatched: true };

/** Ends all calls above a row. */
export function closeAbove(
  stack: CallStack,
  context: RecordingContext,
  place: number,
  end: number,
  reason: CloseReason = unreported,
): void {
  stack.tooDeep = 0;
  while (stack.top > place) {
    if (reason.isUnmatched) context.dropped.unmatched++;
    closeFrame(stack, context, end, reason.failure);
  }
}

/**
 * Ends an open call of a function, which may not be the innermost. The module did not report the ends of open calls within
 * it. Manual spans that it opened stay open in its caller, because authors wrap `span-enter` in functions of their own.
 */
export function closeFunction(stack: CallStack, context: RecordingContext, func: number, end: number): void {
  const { frames } = stack;
  let at = stack.top;
  let innermostManual = at;
  while (at > stack.floor && frames[at + column.func] !== func) {
    if (!hasFlag(stack, at, flag.manual)) innermostManual = at - stride;
    at -= stride;
  }
  if (at <= stack.floor) {
    context.dropped.unmatched++;
    return;
  }
  closeAbove(stack, context, at === stride ? at : innermostManual, end);
  closeFromBelow(stack, context, at, end);
}

/** Ends the innermost manual span; later calls within it may still be open. */
export function closeManual(stack: CallStack, context: RecordingContext, end: number): void {
  let at = stack.top;
  while (at > stack.floor && !hasFlag(stack, at, flag.manual)) at -= stride;
  if (at <= stack.floor) context.dropped.unmatched++;
  else if (at === stride) {
    closeAbove(stack, context, at, end);
    closeFrame(stack, context, end);
  } else closeFromBelow(stack, context, at, end);
}

/** Removes a frame from the stack and ends it; the frames above it move down by one row. */
function closeFromBelow(stack: CallStack, context: RecordingContext, at: number, end: number): void {
  const { frames, top, spanDetails } = stack;
  stack.top = at;
  closeFrame(stack, context, end);
  frames.copyWithin(at, at + stride, top + stride);
  if (top > at) frames.fill(0, top + column.foldedCalls, top + stride);
  for (let above = at + stride; above <= top; above += stride) {
    const details = spanDetails.get(above);
    if (details !== undefined) spanDetails.set(above - stride, details);
    spanDetails.delete(above);
  }
  stack.top = top - stride;
}

import { column, type Fiber, flag, growFrames, growRecords, recordColumn, recordStride, stride } from './fiber.ts';
import type { FunctionCounters } from './function-counters.ts';
import type { TraceLimits } from './options.ts';
import { createDetails, foldDetails, type SpanDetails } from './span-details.ts';

/** What the stacks of one context share. */
export interface RecordingContext {
  readonly limits: TraceLimits;
  /** Calls shorter than this get no span. Milliseconds. */
  readonly minDurationMs: number;
  readonly dropped: { spans: number; depth: number; events: number; attributes: number; unmatched: number };
  readonly counters: FunctionCounters | undefined;
  /** Takes what a root left in the records. */
  readonly endRoot: (fiber: Fiber) => void;
}

export function detailsAt(fiber: Fiber, at: number): SpanDetails {
  let details = fiber.spanDetails.get(at);
  if (details === undefined) {
    details = createDetails();
    fiber.spanDetails.set(at, details);
    setFlag(fiber, at, flag.content);
  }
  return details;
}

export function setFlag({ frames }: Fiber, at: number, bit: number): void {
  frames[at + column.flags] = (frames[at + column.flags] as number) | bit;
}

export function hasFlag({ frames }: Fiber, at: number, bit: number): boolean {
  return ((frames[at + column.flags] as number) & bit) !== 0;
}

/** Opens a frame: of a function, or with `NaN` of something else. `false` where there is no room, which is counted. */
export function openFrame(
  fiber: Fiber,
  { limits, dropped }: RecordingContext,
  func: number,
  start: number,
  bits: number,
): boolean {
  if (fiber.tooDeep === 0 && !hasRoom(fiber, limits.depth)) openFrameAt(fiber, Number.NaN, start, flag.overflow);
  if (hasFlag(fiber, fiber.top, flag.overflow)) {
    fiber.tooDeep++;
    dropped.depth++;
    return false;
  }
  openFrameAt(fiber, func, start, bits);
  return true;
}

/** Whether there is a row for one more call, and one above it for what says that there are too many. */
function hasRoom(fiber: Fiber, maxDepth: number): boolean {
  const isFull = () => fiber.top + 2 * stride >= fiber.frames.length;
  return !isFull() || (growFrames(fiber, maxDepth + 2) && !isFull());
}

function openFrameAt(fiber: Fiber, func: number, start: number, bits: number): void {
  const at = fiber.top + stride;
  const { frames } = fiber;
  frames[at + column.func] = func;
  frames[at + column.start] = start;
  if (bits !== 0) setFlag(fiber, at, bits);
  fiber.top = at;
}

/** Whether what ends is a call that has no frame. Those that the host's innermost call found open are not its to end. */
export function leaveTooDeep(fiber: Fiber, context: RecordingContext): boolean {
  if (!hasFlag(fiber, fiber.top, flag.overflow)) return false;
  if (fiber.tooDeep <= fiber.tooDeepOutside) context.dropped.unmatched++;
  else if (--fiber.tooDeep === 0) closeFrame(fiber, context, 0);
  return true;
}

/** The innermost span that is open: neither ground nor boundary; 0 if there is none. */
export function innermostSpan(fiber: Fiber): number {
  return spanAtOrBelow(fiber, fiber.top);
}

function spanAtOrBelow(fiber: Fiber, at: number): number {
  let found = at;
  while (found > 0 && hasFlag(fiber, found, flag.boundary | flag.overflow)) found -= stride;
  return found;
}

/** Ends the innermost frame: makes a record of it, or counts it where it lies in. */
export function closeFrame(fiber: Fiber, context: RecordingContext, end: number, failure?: string): void {
  const { frames, top } = fiber;
  const bits = frames[top + column.flags] as number;
  const isPlain = (bits & (flag.boundary | flag.overflow)) === 0;
  if ((bits & flag.overflow) !== 0) fiber.tooDeep = 0;
  if (failure !== undefined && isPlain) detailsAt(fiber, top).failure = failure;
  const duration = isPlain ? Math.max(end - (frames[top + column.start] as number), 0) : 0;
  if (isPlain) countCall(fiber, context, duration, failure !== undefined);
  const isSpan = isPlain && becomesSpan(fiber, context, duration);
  if (isSpan) record(fiber, end, duration);
  else fold(fiber, context, isPlain ? 1 : 0, duration);
  frames.fill(0, top + column.foldedCalls, top + stride);
  fiber.spanDetails.delete(top);
  fiber.top = top - stride;
  if (top !== stride) return;
  frames[stride + column.flags] = flag.root;
  context.endRoot(fiber);
}

function countCall({ frames, top }: Fiber, { counters }: RecordingContext, duration: number, hasFailed: boolean): void {
  const func = frames[top + column.func] as number;
  if (counters === undefined || Number.isNaN(func)) return;
  const within = (frames[top + column.spanTime] as number) + (frames[top + column.foldedTime] as number);
  counters.exit(func, duration, duration - within);
  if (hasFailed) counters.fail(func);
}

/** Every span around one that is emitted is emitted itself, so what has an id always becomes one. */
function becomesSpan(fiber: Fiber, { limits, minDurationMs, dropped }: RecordingContext, duration: number): boolean {
  const { top } = fiber;
  if (top === stride || fiber.frames[top + column.id] !== 0) return true;
  if (duration < minDurationMs && !hasFlag(fiber, top, flag.retained)) return false;
  // Those around it need room as well.
  if (fiber.recordCount + top / stride <= limits.spans) return true;
  dropped.spans++;
  return false;
}

function record(fiber: Fiber, end: number, duration: number): void {
  const { frames, top, spanDetails } = fiber;
  const parent = spanAtOrBelow(fiber, top - stride);
  const id = idAt(fiber, top);
  const parentId = parent === 0 ? 0 : idAt(fiber, parent);
  const at = fiber.recordCount * recordStride;
  if (at >= fiber.records.length) growRecords(fiber);
  const { records } = fiber;
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
  if (details !== undefined) fiber.recordDetails.set(fiber.recordCount, details);
  fiber.recordCount++;
  if (parent === 0) return;
  frames[parent + column.spanTime] = (frames[parent + column.spanTime] as number) + duration;
  setFlag(fiber, parent, flag.content);
}

function idAt(fiber: Fiber, at: number): number {
  const { frames } = fiber;
  if (frames[at + column.id] === 0) frames[at + column.id] = ++fiber.lastId;
  return frames[at + column.id] as number;
}

function fold(fiber: Fiber, { limits, dropped }: RecordingContext, calls: number, duration: number): void {
  const { frames, top, spanDetails } = fiber;
  const below = top - stride;
  const add = (place: number, amount: number) => {
    frames[below + place] = (frames[below + place] as number) + amount;
  };
  add(column.foldedCalls, calls + (frames[top + column.foldedCalls] as number));
  // What wasn't a call hands on the time of the calls within it.
  add(column.foldedTime, calls === 0 ? (frames[top + column.foldedTime] as number) : duration);
  const pages = frames[top + column.pages] as number;
  if (pages !== 0) {
    add(column.pages, pages);
    setFlag(fiber, below, flag.content);
  }
  const details = spanDetails.get(top);
  if (details !== undefined && details.events.length + details.droppedEvents > 0) {
    dropped.events += foldDetails(details, detailsAt(fiber, below), limits.events);
  }
}

/** How calls end that were left open. */
export interface CloseReason {
  /** Why they failed, if they did. */
  readonly failure: string | undefined;
  /** Whether their ends should have been reported. */
  readonly isUnmatched: boolean;
}

const unreported: CloseReason = { failure: 'the end of this call was not reported', isUnmatched: true };

/** Ends everything above a place. */
export function closeAbove(
  fiber: Fiber,
  context: RecordingContext,
  place: number,
  end: number,
  reason = unreported,
): void {
  while (fiber.top > place) {
    const isCall = !hasFlag(fiber, fiber.top, flag.boundary | flag.overflow);
    if (isCall && reason.isUnmatched) context.dropped.unmatched++;
    closeFrame(fiber, context, end, reason.failure);
  }
}

/**
 * Ends the call of a function that is open but perhaps not innermost. Calls within it that are still open were left without
 * their end being reported. Manual spans that it opened live on in its caller: authors wrap `span-enter` in functions of theirs.
 */
export function closeFunction(fiber: Fiber, context: RecordingContext, func: number, end: number): void {
  const { frames } = fiber;
  let at = fiber.top;
  let innermostKept = at;
  while (at > 0 && frames[at + column.func] !== func) {
    if (hasFlag(fiber, at, flag.boundary | flag.overflow)) at = 0;
    else if (!hasFlag(fiber, at, flag.manual)) innermostKept = at - stride;
    at -= stride;
  }
  if (at <= 0) {
    context.dropped.unmatched++;
    return;
  }
  closeAbove(fiber, context, at === stride ? at : innermostKept, end);
  closeFromBelow(fiber, context, at, end);
}

/** Ends the innermost manual span, which calls that were made since may still be within. */
export function closeManual(fiber: Fiber, context: RecordingContext, end: number): void {
  let at = fiber.top;
  while (at > 0 && !hasFlag(fiber, at, flag.manual | flag.boundary | flag.overflow)) at -= stride;
  if (at === 0 || !hasFlag(fiber, at, flag.manual)) context.dropped.unmatched++;
  else if (at === stride) {
    closeAbove(fiber, context, at, end);
    closeFrame(fiber, context, end);
  } else closeFromBelow(fiber, context, at, end);
}

/** Takes a frame out of the stack and ends it; those above it come to lie in the one below. */
function closeFromBelow(fiber: Fiber, context: RecordingContext, at: number, end: number): void {
  const { frames, top, spanDetails } = fiber;
  fiber.top = at;
  closeFrame(fiber, context, end);
  frames.copyWithin(at, at + stride, top + stride);
  if (top > at) frames.fill(0, top + column.foldedCalls, top + stride);
  for (let above = at + stride; above <= top; above += stride) {
    const details = spanDetails.get(above);
    if (details !== undefined) spanDetails.set(above - stride, details);
    spanDetails.delete(above);
  }
  fiber.top = top - stride;
}

import { createExtra, type Extra, foldExtra } from './extra.ts';
import { column, type Fiber, growFrames, growRecords, recordColumn, recordStride, special, stride } from './fiber.ts';
import type { FunctionCounters } from './function-counters.ts';
import type { TraceLimits } from './options.ts';

/** What the stacks of one context share. */
export interface Collecting {
  readonly limits: TraceLimits;
  /** Calls shorter than this get no span. Milliseconds. */
  readonly minDurationMs: number;
  readonly dropped: { spans: number; depth: number; events: number; attributes: number; unmatched: number };
  readonly counters: FunctionCounters | undefined;
  /** Takes what a root left in the records. */
  readonly endRoot: (fiber: Fiber) => void;
}

export function extraAt(fiber: Fiber, at: number): Extra {
  let extra = fiber.extras.get(at);
  if (extra === undefined) {
    extra = createExtra();
    fiber.extras.set(at, extra);
    mark(fiber, at, special.content);
  }
  return extra;
}

export function mark({ frames }: Fiber, at: number, bit: number): void {
  frames[at + column.special] = (frames[at + column.special] as number) | bit;
}

export function has({ frames }: Fiber, at: number, bit: number): boolean {
  return ((frames[at + column.special] as number) & bit) !== 0;
}

/** Opens a frame: of a function, or with `NaN` of something else. `false` where there is no room, which is counted. */
export function openFrame(
  fiber: Fiber,
  { limits, dropped }: Collecting,
  func: number,
  start: number,
  bits: number,
): boolean {
  if (fiber.tooDeep === 0 && !hasRoom(fiber, limits.depth)) openFrameAt(fiber, Number.NaN, start, special.overflow);
  if (has(fiber, fiber.top, special.overflow)) {
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
  if (bits !== 0) mark(fiber, at, bits);
  fiber.top = at;
}

/** Whether what ends is a call that has no frame. Those that the host's innermost call found open are not its to end. */
export function leaveTooDeep(fiber: Fiber, collecting: Collecting): boolean {
  if (!has(fiber, fiber.top, special.overflow)) return false;
  if (fiber.tooDeep <= fiber.tooDeepOutside) collecting.dropped.unmatched++;
  else if (--fiber.tooDeep === 0) closeFrame(fiber, collecting, 0);
  return true;
}

/** The innermost span that is open: neither ground nor boundary; 0 if there is none. */
export function innermostSpan(fiber: Fiber): number {
  return spanAtOrBelow(fiber, fiber.top);
}

function spanAtOrBelow(fiber: Fiber, at: number): number {
  let found = at;
  while (found > 0 && has(fiber, found, special.boundary | special.overflow)) found -= stride;
  return found;
}

/** Ends the innermost frame: makes a record of it, or counts it where it lies in. */
export function closeFrame(fiber: Fiber, collecting: Collecting, end: number, failure?: string): void {
  const { frames, top } = fiber;
  const bits = frames[top + column.special] as number;
  const isPlain = (bits & (special.boundary | special.overflow)) === 0;
  if ((bits & special.overflow) !== 0) fiber.tooDeep = 0;
  if (failure !== undefined && isPlain) extraAt(fiber, top).failure = failure;
  const duration = isPlain ? Math.max(end - (frames[top + column.start] as number), 0) : 0;
  if (isPlain) countCall(fiber, collecting, duration, failure !== undefined);
  const isSpan = isPlain && becomesSpan(fiber, collecting, duration);
  if (isSpan) record(fiber, end, duration);
  else fold(fiber, collecting, isPlain ? 1 : 0, duration);
  frames.fill(0, top + column.leftCalls, top + stride);
  fiber.extras.delete(top);
  fiber.top = top - stride;
  if (top !== stride) return;
  frames[stride + column.special] = special.root;
  collecting.endRoot(fiber);
}

function countCall({ frames, top }: Fiber, { counters }: Collecting, duration: number, hasFailed: boolean): void {
  const func = frames[top + column.func] as number;
  if (counters === undefined || Number.isNaN(func)) return;
  const within = (frames[top + column.spanTime] as number) + (frames[top + column.leftTime] as number);
  counters.exit(func, duration, duration - within);
  if (hasFailed) counters.fail(func);
}

/** Every span around one that is emitted is emitted itself, so what has an id always becomes one. */
function becomesSpan(fiber: Fiber, { limits, minDurationMs, dropped }: Collecting, duration: number): boolean {
  const { top } = fiber;
  if (top === stride || fiber.frames[top + column.id] !== 0) return true;
  if (duration < minDurationMs && !has(fiber, top, special.pinned)) return false;
  // Those around it need room as well.
  if (fiber.recordCount + top / stride <= limits.spans) return true;
  dropped.spans++;
  return false;
}

function record(fiber: Fiber, end: number, duration: number): void {
  const { frames, top, extras } = fiber;
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
  records[at + recordColumn.leftCalls] = frames[top + column.leftCalls] as number;
  records[at + recordColumn.leftTime] = frames[top + column.leftTime] as number;
  records[at + recordColumn.pages] = frames[top + column.pages] as number;
  records[at + recordColumn.id] = id;
  records[at + recordColumn.parentId] = parentId;
  const extra = extras.get(top);
  if (extra !== undefined) fiber.recordExtras.set(fiber.recordCount, extra);
  fiber.recordCount++;
  if (parent === 0) return;
  frames[parent + column.spanTime] = (frames[parent + column.spanTime] as number) + duration;
  mark(fiber, parent, special.content);
}

function idAt(fiber: Fiber, at: number): number {
  const { frames } = fiber;
  if (frames[at + column.id] === 0) frames[at + column.id] = ++fiber.lastId;
  return frames[at + column.id] as number;
}

function fold(fiber: Fiber, { limits, dropped }: Collecting, calls: number, duration: number): void {
  const { frames, top, extras } = fiber;
  const below = top - stride;
  const add = (place: number, amount: number) => {
    frames[below + place] = (frames[below + place] as number) + amount;
  };
  add(column.leftCalls, calls + (frames[top + column.leftCalls] as number));
  // What wasn't a call hands on the time of the calls within it.
  add(column.leftTime, calls === 0 ? (frames[top + column.leftTime] as number) : duration);
  const pages = frames[top + column.pages] as number;
  if (pages !== 0) {
    add(column.pages, pages);
    mark(fiber, below, special.content);
  }
  const extra = extras.get(top);
  if (extra !== undefined && extra.events.length + extra.droppedEvents > 0) {
    dropped.events += foldExtra(extra, extraAt(fiber, below), limits.events);
  }
}

/** How calls end that were left open. */
export interface Ending {
  /** Why they failed, if they did. */
  readonly failure: string | undefined;
  /** Whether their ends should have been reported. */
  readonly isUnmatched: boolean;
}

const unreported: Ending = { failure: 'the end of this call was not reported', isUnmatched: true };

/** Ends everything above a place. */
export function closeAbove(
  fiber: Fiber,
  collecting: Collecting,
  place: number,
  end: number,
  ending = unreported,
): void {
  while (fiber.top > place) {
    const isCall = !has(fiber, fiber.top, special.boundary | special.overflow);
    if (isCall && ending.isUnmatched) collecting.dropped.unmatched++;
    closeFrame(fiber, collecting, end, ending.failure);
  }
}

/**
 * Ends the call of a function that is open but perhaps not innermost. Calls within it that are still open were left without
 * their end being reported. Manual spans that it opened live on in its caller: authors wrap `span-enter` in functions of theirs.
 */
export function closeFunction(fiber: Fiber, collecting: Collecting, func: number, end: number): void {
  const { frames } = fiber;
  let at = fiber.top;
  let innermostKept = at;
  while (at > 0 && frames[at + column.func] !== func) {
    if (has(fiber, at, special.boundary | special.overflow)) at = 0;
    else if (!has(fiber, at, special.manual)) innermostKept = at - stride;
    at -= stride;
  }
  if (at <= 0) {
    collecting.dropped.unmatched++;
    return;
  }
  closeAbove(fiber, collecting, at === stride ? at : innermostKept, end);
  closeFromBelow(fiber, collecting, at, end);
}

/** Ends the innermost manual span, which calls that were made since may still be within. */
export function closeManual(fiber: Fiber, collecting: Collecting, end: number): void {
  let at = fiber.top;
  while (at > 0 && !has(fiber, at, special.manual | special.boundary | special.overflow)) at -= stride;
  if (at === 0 || !has(fiber, at, special.manual)) collecting.dropped.unmatched++;
  else if (at === stride) {
    closeAbove(fiber, collecting, at, end);
    closeFrame(fiber, collecting, end);
  } else closeFromBelow(fiber, collecting, at, end);
}

/** Takes a frame out of the stack and ends it; those above it come to lie in the one below. */
function closeFromBelow(fiber: Fiber, collecting: Collecting, at: number, end: number): void {
  const { frames, top, extras } = fiber;
  fiber.top = at;
  closeFrame(fiber, collecting, end);
  frames.copyWithin(at, at + stride, top + stride);
  if (top > at) frames.fill(0, top + column.leftCalls, top + stride);
  for (let above = at + stride; above <= top; above += stride) {
    const extra = extras.get(above);
    if (extra !== undefined) extras.set(above - stride, extra);
    extras.delete(above);
  }
  fiber.top = top - stride;
}
